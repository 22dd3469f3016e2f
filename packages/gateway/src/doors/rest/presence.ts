/** Who is here now, and who was seen lately (PROTOCOL.md section 13). */
import type { IncomingMessage } from 'node:http';

import { KINDS, type LatelyDocument, type PresentDocument } from '@open-presence/protocol';

import { parseSelection } from '../../intake/selection.ts';
import type { Seq } from '../../log/log.ts';
import {
  readSeeking,
  type RecentAuthorsSnapshot,
  type RecentAuthor,
} from '../../presence/recent-authors.ts';
import type { Visitor, PresentVisitor } from '../../presence/presence.ts';
import { formOf } from '../../http/negotiation.ts';
import { NOT_KEPT, vary, type Headers } from '../../http/answers.ts';
import { queryOf, type RequestContext, type AppContext } from '../../http/context.ts';
import { bufferOrStream } from '../../http/buffer-or-stream.ts';

/** What a caller asks for. */
export interface Question {
  /** Slugs; each must be the room of whoever is told. */
  readonly rooms: readonly string[];
  readonly limit: number;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
}

const HEADERS: Headers = { ...NOT_KEPT, ...vary() };

/** Spellings of a parameter `as`, so that a URL without one is not read further. */
const AS = /[?&](?:a|%61)(?:s|%73)=/;
const EVENTS = /^\/api\/events\/?(?:\?|$)/;
const LISTING = new RegExp(
  `^/api/(?:${KINDS.join('|')}|rooms/[^/]+|entries/[^/]+/replies)/?(?:\\?|$)`,
);

/** The reader and its room, where a request names its reader. */
export function readerOf({ app, request, params }: RequestContext): Visitor | undefined {
  if (!AS.test(request.url ?? '')) return undefined;
  const query = queryOf(request);
  const identity = query.get('as') ?? '';
  if (identity === '') return undefined;
  const slug = params['slug'] ?? query.get('room');
  return { identity, room: app.language.rooms.find((room) => room.slug === slug)?.slug };
}

/** Whether the answer is an event stream, whose reader is present while it is open. */
export function isEventStream({ url = '', headers }: IncomingMessage): boolean {
  return EVENTS.test(url) || (LISTING.test(url) && formOf(headers.accept) === 'events');
}

export async function presence(context: RequestContext): Promise<void> {
  const { response } = context;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const pieces = documentOf(context.app, questionOf(context, gone.signal));
  await bufferOrStream(context, { pieces, headers: HEADERS });
}

/** Throws for parameters that cannot be used. */
function questionOf({ app, request }: RequestContext, signal: AbortSignal): Question {
  const given = queryOf(request);
  const read = ['limit', 'room'].flatMap((name) =>
    given.getAll(name).map((value) => [name, value]),
  );
  const { limit = Infinity } = parseSelection(new URLSearchParams(read), {
    grammar: app.grammar,
    facets: [],
    kinds: false,
    subject: 'presence',
  });
  return { rooms: given.getAll('room'), limit, signal };
}

/** The answer, one visitor a line. */
async function* documentOf(
  app: AppContext,
  question: Question,
): AsyncGenerator<Buffer, void, undefined> {
  const known = await app.recentAuthors.snapshot();
  yield Buffer.from('{"here":[\n');
  yield* lines(presentIn(app, question, known));
  yield Buffer.from('],"lately":[\n');
  yield* lines(spokeIn(app, question, known));
  yield Buffer.from(`],"head":${known.head}}\n`);
}

async function* lines(documents: AsyncIterable<object>): AsyncGenerator<Buffer, void, undefined> {
  let before = '';
  for await (const document of documents) {
    yield Buffer.from(before + JSON.stringify(document));
    before = ',\n';
  }
  if (before !== '') yield Buffer.from('\n');
}

/** The newest of those who are here now. */
export async function hereNow(
  { presence, log }: AppContext,
  { head, most }: { readonly head: Seq; readonly most: number },
): Promise<PresentDocument[]> {
  const newest = presence.list(most);
  return await Promise.all(
    newest.map(async (one) => presentAs(one, await readSeeking(log, one.identity, head))),
  );
}

export async function* presentIn(
  { presence, log }: AppContext,
  { rooms, limit, signal }: Question,
  { head }: RecentAuthorsSnapshot,
): AsyncGenerator<PresentDocument, void, undefined> {
  const here = presence.list().filter(({ room }) => rooms.every((slug) => slug === room));
  for (const one of here.slice(0, limit)) {
    if (signal.aborted) return;
    yield presentAs(one, await readSeeking(log, one.identity, head));
  }
}

export async function* spokeIn(
  { recentAuthors, log }: AppContext,
  { limit, ...wanted }: Question,
  known: RecentAuthorsSnapshot,
): AsyncGenerator<LatelyDocument, void, undefined> {
  if (limit === 0) return;
  let count = 0;
  for await (const one of recentAuthors.list(known, wanted)) {
    yield latelyAs(one, await readSeeking(log, one.identity, known.head));
    count += 1;
    if (count === limit) return;
  }
}

function presentAs(present: PresentVisitor, seeking: readonly string[]): PresentDocument {
  const { identity, via, room, since, lastSeen, until } = present;
  return {
    identity,
    via,
    room: room ?? null,
    seeking: [...seeking],
    since: new Date(since).toISOString(),
    lastSeen: new Date(lastSeen).toISOString(),
    until: until === undefined ? null : new Date(until).toISOString(),
  };
}

function latelyAs({ identity, stamp }: RecentAuthor, seeking: readonly string[]): LatelyDocument {
  const { id, kind, room, time } = stamp;
  return {
    identity,
    kind,
    room,
    seeking: [...seeking],
    lastSeen: new Date(time).toISOString(),
    entry: `/api/entries/${id}`,
  };
}
