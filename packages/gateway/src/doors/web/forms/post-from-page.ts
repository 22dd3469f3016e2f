/**
 * Stores an entry that was written on a page without scripts (PROTOCOL.md section 7.10), and leads back to a
 * page. A refused form is sent back with everything that was typed.
 */
import {
  type EntryMetadata,
  entryPath,
  type GatewayError,
  type Kind,
} from '@open-presence/protocol';

import type { FieldValues, WritePage } from '@open-presence/web/page-data';

import { FormConverter } from '../../../intake/forms/form-body.ts';
import { append, draftFor } from '../../../operations/contribution/append.ts';
import type { DoorRequest } from '../../context.ts';
import { redirectsToOrigin } from '../../redirect-to-origin.ts';
import { idempotencyKeyOf } from '../../request-key.ts';
import { writePage } from '../pages/write.ts';
import { shellOf } from '../shell.ts';
import { ownPath, pageIn, problemIn, receiveForm } from './page-form.ts';
import type { PostedForm } from './posted-form.ts';

export async function postFromPage(context: DoorRequest, kind: Kind): Promise<void> {
  if (redirectsToOrigin(context)) return;
  await receiveForm(context, {
    store: async (form) => locationOf(pageIn(context), await store(context, kind, form)),
    refuse: (typed, error) => refusedEntry(context, kind, typed, error),
  });
}

/** Resolves once the entry is durable. */
async function store(
  { app, request, response }: DoorRequest,
  kind: Kind,
  form: PostedForm,
): Promise<EntryMetadata> {
  const contentType = request.headers['content-type'];
  const converter = new FormConverter(contentType, app.grammar.kinds[kind], true);
  const key = idempotencyKeyOf(request);
  const draft = await draftFor(app, { kind, body: converter.convertChunks(form.chunks()), key });
  const { metadata, isRepeated } = await append(
    app.log,
    converter.key === undefined ? draft : { key: converter.key, ...draft },
  );
  if (isRepeated) response.setHeader('Idempotent-Replayed', 'true');
  return metadata;
}

/** A page of this gateway, whatever the parameter says. */
function locationOf(page: string, { id, seq }: EntryMetadata): string {
  const path = page.replaceAll('{id}', id).replaceAll('{seq}', String(seq));
  return ownPath(path) ?? entryPath(id);
}

const KEY = 'idempotency-key';

function refusedEntry(
  context: DoorRequest,
  kind: Kind,
  typed: FieldValues,
  error: GatewayError,
): WritePage {
  const { app } = context;
  const shell = { ...shellOf(context), url: `/write?kind=${kind}` };
  const given = (name: string): string | undefined =>
    (name === 'page' ? pageIn(context) : typed.find(([named]) => named === name)?.[1]) || undefined;
  // The entry may be stored although the answer was lost: its key must stay the same then.
  const key = error.code === 'idempotency-conflict' ? undefined : given(KEY);
  return { ...writePage({ app, shell, kind }, given, key), typed, problem: problemIn(error) };
}
