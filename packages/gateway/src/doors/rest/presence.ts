/** `GET /api/presence` (PROTOCOL.md section 13). */
import { portableJson } from '@open-presence/protocol';

import { NO_STORE, vary, type Headers } from '../../http/response/headers.ts';
import { bufferOrStream } from '../../http/response/buffer-or-stream.ts';
import { notesPart } from '../../http/parameters/parameter-check.ts';
import { queryOf } from '../../http/parameters/query.ts';
import { parseSelection } from '../../intake/selection.ts';
import {
  presentVisitors,
  recentAuthors,
  type PresenceQuery,
} from '../../operations/who-is-here.ts';
import type { DoorRequest } from '../context.ts';

const HEADERS: Headers = { ...NO_STORE, ...vary() };

export async function presence(context: DoorRequest): Promise<void> {
  // Not aborted on shutdown: a list that was cut off would look complete.
  const disconnect = new AbortController();
  context.response.once('close', () => disconnect.abort());
  const chunks = documentOf(context, await presenceQuery(context, disconnect.signal));
  await bufferOrStream(context, { chunks, headers: HEADERS });
}

/** Throws for parameters that cannot be used. */
async function presenceQuery(
  { app, request }: DoorRequest,
  signal: AbortSignal,
): Promise<PresenceQuery> {
  const parameters = queryOf(request);
  const scope = { grammar: app.grammar, facets: [], subject: 'presence' };
  const { limit = Infinity } = await parseSelection(parameters, scope);
  return { rooms: [...new Set(parameters.getAll('room'))], limit, signal };
}

/** The document, one visitor a line. */
async function* documentOf(
  { app, request }: DoorRequest,
  query: PresenceQuery,
): AsyncGenerator<Buffer, void, undefined> {
  const snapshot = await app.recentAuthors.snapshot();
  yield Buffer.from(`{${notesPart(request)}"here":[\n`);
  yield* lines(presentVisitors(app, query, snapshot));
  yield Buffer.from('],"lately":[\n');
  yield* lines(recentAuthors(app, query, snapshot));
  yield Buffer.from(`],"head":${snapshot.head},"log":"${app.log.id}"}\n`);
}

async function* lines(documents: AsyncIterable<object>): AsyncGenerator<Buffer, void, undefined> {
  let separator = '';
  for await (const document of documents) {
    yield Buffer.from(separator + portableJson(document));
    separator = ',\n';
  }
  if (separator !== '') yield Buffer.from('\n');
}
