/** `GET /api/presence`, and readers who become present by reading (PROTOCOL.md section 13). */
import { NO_STORE, vary, type Headers } from '../../http/headers.ts';
import { bufferOrStream } from '../../http/buffer-or-stream.ts';
import { abortOnDisconnect, queryOf } from '../../http/context.ts';
import { parseSelection } from '../../intake/selection.ts';
import {
  visitorFor,
  presentVisitors,
  recentAuthors,
  type PresenceQuery,
} from '../../operations/who-is-here.ts';
import type { Visitor } from '../../presence/presence.ts';
import type { DoorContext, DoorRequest } from '../context.ts';

const HEADERS: Headers = { ...NO_STORE, ...vary() };

/** Spellings of a parameter `as`, so that a URL without one is not parsed. */
const AS = /[?&](?:a|%61)(?:s|%73)=/;

/** The reader and its room, where a request names its reader. */
export function readerOf({ app, request, params }: DoorRequest): Visitor | undefined {
  if (!AS.test(request.url ?? '')) return undefined;
  const query = queryOf(request);
  const identity = query.get('as') ?? '';
  if (identity === '') return undefined;
  return visitorFor(app, identity, params['slug'] ?? query.get('room'));
}

/** Makes the reader present, where the request names one. */
export function markPresent(context: DoorRequest): void {
  const reader = readerOf(context);
  if (reader !== undefined) context.app.presence.recordRequest(reader);
}

export async function presence(context: DoorRequest): Promise<void> {
  using caller = abortOnDisconnect(context);
  const pieces = documentOf(context.app, presenceQuery(context, caller.signal));
  await bufferOrStream(context, { pieces, headers: HEADERS });
}

/** Throws for parameters that cannot be used. */
function presenceQuery({ app, request }: DoorRequest, signal: AbortSignal): PresenceQuery {
  const given = queryOf(request);
  const used = ['limit', 'room'].flatMap((name) =>
    given.getAll(name).map((value) => [name, value]),
  );
  const { limit = Infinity } = parseSelection(new URLSearchParams(used), {
    grammar: app.grammar,
    facets: [],
    kinds: false,
    subject: 'presence',
  });
  return { rooms: given.getAll('room'), limit, signal };
}

/** The answer, one visitor a line. */
async function* documentOf(
  app: DoorContext,
  query: PresenceQuery,
): AsyncGenerator<Buffer, void, undefined> {
  const snapshot = await app.recentAuthors.snapshot();
  yield Buffer.from('{"here":[\n');
  yield* lines(presentVisitors(app, query, snapshot));
  yield Buffer.from('],"lately":[\n');
  yield* lines(recentAuthors(app, query, snapshot));
  yield Buffer.from(`],"head":${snapshot.head}}\n`);
}

async function* lines(documents: AsyncIterable<object>): AsyncGenerator<Buffer, void, undefined> {
  let joiner = '';
  for await (const document of documents) {
    yield Buffer.from(joiner + JSON.stringify(document));
    joiner = ',\n';
  }
  if (joiner !== '') yield Buffer.from('\n');
}
