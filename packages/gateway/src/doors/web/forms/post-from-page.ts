/**
 * Stores an entry that was written on a page without scripts (PROTOCOL.md section 7.10), and leads back to
 * a page. A form that is refused is sent back with everything that was typed.
 */
import { entryPath, type Kind, type EntryMetadata } from '@open-presence/protocol';

import { queryOf } from '../../../http/query.ts';
import { isDisconnected } from '../../../http/context.ts';
import { discardBody } from '../../../http/request/request-body.ts';
import { problemOf } from '../../../http/response/problem.ts';
import { COMMON_HEADERS, NO_STORE, vary } from '../../../http/response/headers.ts';
import { FormConverter } from '../../../intake/forms/form-body.ts';
import { hashIdempotencyKey } from '../../../intake/idempotency-key.ts';
import { append, draftFor } from '../../../operations/append.ts';
import type { DoorRequest } from '../../context.ts';
import { redirectsToOrigin } from '../../redirect-to-origin.ts';
import { PostedForm } from './posted-form.ts';
import { sendRefusedForm } from './refused-form.ts';

export async function postFromPage(context: DoorRequest, kind: Kind): Promise<void> {
  if (redirectsToOrigin(context)) return;
  const { app, request } = context;
  let form: PostedForm;
  try {
    form = await PostedForm.receive(request, app.temporaryFolder);
  } catch (error) {
    discardBody(request);
    throw error;
  }
  await using posted = form;
  try {
    sendSeeOther(context, await store(context, kind, posted));
  } catch (error) {
    if (!isDisconnected(context)) {
      await sendRefusedForm(context, { kind, form: posted, error: problemOf(context, error) });
    }
  }
}

/** Resolves once the entry is durable. */
async function store(
  { app, request }: DoorRequest,
  kind: Kind,
  form: PostedForm,
): Promise<EntryMetadata> {
  const { headers } = request;
  const converter = new FormConverter(headers['content-type'], app.grammar.kinds[kind], true);
  const header = headers['idempotency-key'];
  const key = hashIdempotencyKey(
    typeof header === 'string' ? header : header?.join(', '),
    queryOf(request).get('idempotency-key'),
  );
  const draft = await draftFor(app, { kind, body: converter.convertChunks(form.chunks()), key });
  return await append(
    app.log,
    converter.key === undefined ? draft : { key: converter.key, ...draft },
  );
}

function sendSeeOther(context: DoorRequest, metadata: EntryMetadata): void {
  const { response, request } = context;
  if (isDisconnected(context)) return;
  const page = queryOf(request).get('page') ?? '';
  response.writeHead(303, {
    Location: locationOf(page, metadata),
    'Content-Length': 0,
    ...COMMON_HEADERS,
    ...NO_STORE,
    ...vary('Accept'),
  });
  response.end();
}

const HERE = 'http://localhost';

/** A page of this gateway, whatever the parameter says. */
function locationOf(page: string, { id, seq }: EntryMetadata): string {
  const path = page.replaceAll('{id}', id).replaceAll('{seq}', String(seq));
  const url = URL.canParse(path, HERE) ? new URL(path, HERE) : undefined;
  // Two slashes begin the name of a host.
  const isHere = url?.origin === HERE && path.startsWith('/') && !url.pathname.startsWith('//');
  if (!isHere) return entryPath(id);
  return url.pathname + url.search + url.hash;
}
