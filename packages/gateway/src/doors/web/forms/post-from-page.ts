/**
 * Stores an entry that was written on a page without scripts (PROTOCOL.md section 7.10), and leads back to
 * a page. A form that is refused is sent back with everything that was typed.
 */
import { randomUUID } from 'node:crypto';

import {
  type EntryMetadata,
  entryPath,
  type GatewayError,
  type Kind,
} from '@open-presence/protocol';
import type { WritePage } from '@open-presence/web/page-data';
import { renderPage } from '@open-presence/web/renderer';

import { isDisconnected } from '../../../http/context.ts';
import { queryOf } from '../../../http/query.ts';
import { discardBody } from '../../../http/request/request-body.ts';
import { COMMON_HEADERS, type Headers, NO_STORE, vary } from '../../../http/response/headers.ts';
import { problemOf, RETRY_AFTER } from '../../../http/response/problem.ts';
import { sendBody } from '../../../http/response/response-writer.ts';
import { FormConverter } from '../../../intake/forms/form-body.ts';
import { hashIdempotencyKey } from '../../../intake/idempotency-key.ts';
import { append, draftFor } from '../../../operations/append.ts';
import type { DoorRequest } from '../../context.ts';
import { redirectsToOrigin } from '../../redirect-to-origin.ts';
import { newIdempotencyKey, writePath } from '../pages/write.ts';
import { PAGE_TYPE, pageHeaders } from '../send-page.ts';
import { shellOf } from '../shell.ts';
import { fieldHtml, otherFieldsHtml, shortFields } from './field-texts.ts';
import { PostedForm } from './posted-form.ts';

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

interface RefusedForm {
  readonly kind: Kind;
  readonly form: PostedForm;
  readonly error: GatewayError;
}

const KEY = 'idempotency-key';
const HIDDEN: ReadonlySet<string> = new Set([KEY, 'room', 'inReplyTo']);
/** The slot of what has no field of its own. */
const OTHERS = '';

async function sendRefusedForm(context: DoorRequest, refused: RefusedForm): Promise<void> {
  const { kind, form, error } = refused;
  const data = await pageData(context, refused);
  const names = [...data.shell.kinds[kind].fields.map(({ name }) => name), 'to', OTHERS];
  // Nobody can know it beforehand, and write it.
  const token = randomUUID();
  const slots = Object.fromEntries(names.map((name, index) => [name, `${token}-${index}-`]));
  // HTML drops the first line break of a text area.
  if (slots['text'] !== undefined) slots['text'] = `\n${slots['text']}`;
  const html = renderPage(data, { slots });
  const shown = new Set([...names, ...HIDDEN]);
  const retry: Headers = error.status >= 500 ? { 'Retry-After': RETRY_AFTER } : {};
  context.response.writeHead(error.status, {
    'Content-Type': PAGE_TYPE,
    ...pageHeaders(data.shell),
    ...NO_STORE,
    ...retry,
  });
  await sendBody(
    context,
    undefined,
    fill(html, token, (index) => {
      const name = names[index] ?? OTHERS;
      return name === OTHERS ? otherFieldsHtml(form, shown) : fieldHtml(form, name);
    }),
  );
}

async function pageData(
  context: DoorRequest,
  { kind, form, error }: RefusedForm,
): Promise<WritePage> {
  const { app, request } = context;
  const shell = { ...shellOf(context), url: writePath(kind) };
  const typed = await shortFields(form, HIDDEN);
  const room = typed.get('room');
  const inReplyTo = typed.get('inReplyTo');
  // An entry may be stored although that could not be said: its key must stay the same then.
  const key = error.code === 'idempotency-conflict' ? undefined : typed.get(KEY);
  const { message: detail, extensions } = error;
  const { faults } = extensions;
  return {
    page: 'write',
    shell,
    title: shell.kinds[kind].title,
    description: shell.kinds[kind].meaning,
    unlisted: true,
    kind,
    ...(room === undefined || !app.grammar.rooms.has(room) ? {} : { room }),
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    returnTo: queryOf(request).get('page') ?? '/entries/{id}',
    idempotencyKey: key === undefined || key === '' ? newIdempotencyKey() : key,
    problem: { detail, ...(faults === undefined ? {} : { faults }) },
  };
}

/** The HTML with something else in place of each `token-INDEX-`. */
async function* fill(
  html: string,
  token: string,
  slot: (index: number) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [start = '', ...parts] = html.split(`${token}-`);
  yield Buffer.from(start);
  for (const part of parts) {
    const end = part.indexOf('-');
    yield* slot(Number(part.slice(0, end)));
    yield Buffer.from(part.slice(end + 1));
  }
}
