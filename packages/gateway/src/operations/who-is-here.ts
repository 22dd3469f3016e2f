/** Visitors who are present, and authors of the last hour (PROTOCOL.md section 13). */
import {
  entryPath,
  visitorName,
  type LatelyDocument,
  type PresentDocument,
} from '@open-presence/protocol';

import type { Seq } from '../log/log.ts';
import type { Visitor, PresentVisitor } from '../presence/presence.ts';
import { type RecentAuthorsSnapshot, type RecentAuthor } from '../presence/recent-authors.ts';
import { MAX_TOGETHER } from '../presence/seeking.ts';
import type { OperationsContext } from './context.ts';
import { DEFAULT_LIMIT } from './read-page.ts';

type PresenceContext = Pick<OperationsContext, 'presence' | 'recentAuthors'>;

export interface PresenceQuery {
  /** Slugs. A visitor is listed if its room is one of them; without any, wherever it is. */
  readonly rooms: readonly string[];
  readonly limit: number;
  /** Aborting stops the reading early. */
  readonly signal: AbortSignal;
}

/** The visitor with this name, if it is one; without a room if none has the slug. */
export function visitorFor(
  { language }: Pick<OperationsContext, 'language'>,
  name: unknown,
  slug: unknown,
): Visitor | undefined {
  const identity = visitorName(name)?.toWellFormed();
  if (identity === undefined) return undefined;
  return { identity, room: language.rooms.find((room) => room.slug === slug)?.slug };
}

export async function newestPresent(
  { presence, recentAuthors: authors }: PresenceContext,
  { head, limit }: { readonly head: Seq; readonly limit: number },
): Promise<PresentDocument[]> {
  const newest = presence.list(limit);
  return await Promise.all(
    newest.map(async (visitor) =>
      presentDocument(visitor, await authors.seeking.read(visitor.identity, head)),
    ),
  );
}

export async function* presentVisitors(
  { presence, recentAuthors: authors }: PresenceContext,
  { rooms, limit, signal }: PresenceQuery,
  { head }: RecentAuthorsSnapshot,
): AsyncGenerator<PresentDocument, void, undefined> {
  const here = presentIn({ presence }, rooms).slice(0, limit);
  const names = here.map(({ identity }) => identity);
  for (const [at, visitor] of here.entries()) {
    if (signal.aborted) return;
    const next = names.slice(at + 1, at + MAX_TOGETHER);
    yield presentDocument(visitor, await authors.seeking.read(visitor.identity, head, next));
  }
}

function presentIn(
  { presence }: Pick<OperationsContext, 'presence'>,
  rooms: readonly string[],
): PresentVisitor[] {
  return presence
    .list()
    .filter(({ room }) => rooms.length === 0 || (room !== undefined && rooms.includes(room)));
}

export async function* recentAuthors(
  { recentAuthors: authors }: Pick<OperationsContext, 'recentAuthors'>,
  { limit, ...wanted }: PresenceQuery,
  snapshot: RecentAuthorsSnapshot,
): AsyncGenerator<LatelyDocument, void, undefined> {
  await using listed = authors.list(snapshot, wanted);
  for (let left = limit; left > 0; left -= MAX_TOGETHER) {
    const some = await nextOf(listed, Math.min(left, MAX_TOGETHER));
    const names = some.map(({ identity }) => identity);
    for (const [at, author] of some.entries()) {
      const seeking = await authors.seeking.read(
        author.identity,
        snapshot.head,
        names.slice(at + 1),
      );
      yield authorDocument(author, seeking);
    }
    if (some.length < MAX_TOGETHER) return;
  }
}

async function nextOf<Item>(items: AsyncGenerator<Item>, count: number): Promise<Item[]> {
  const taken: Item[] = [];
  while (taken.length < count) {
    const step = await items.next();
    if (step.done === true) break;
    taken.push(step.value);
  }
  return taken;
}

/** Visitors who are here and recent authors, as far as they fit an answer. */
interface PresencePage {
  readonly head: Seq;
  readonly here: readonly PresentDocument[];
  readonly lately: readonly LatelyDocument[];
  /** How many did not fit. */
  readonly others: number;
}

export interface PresencePageQuery extends Omit<PresenceQuery, 'limit'> {
  /** How many names there may be in both lists together. */
  readonly limit: number | undefined;
  /** About how large each list may become, in UTF-16 code units. */
  readonly maxSize: number;
}

export async function presencePage(
  app: PresenceContext,
  { maxSize, limit = DEFAULT_LIMIT, ...wanted }: PresencePageQuery,
): Promise<PresencePage> {
  const snapshot = await app.recentAuthors.snapshot();
  const { head } = snapshot;
  const here = await firstOf(presentVisitors(app, { ...wanted, limit }, snapshot), maxSize);
  const left = limit - here.length;
  const lately = await firstOf(recentAuthors(app, { ...wanted, limit: left }, snapshot), maxSize);
  let others = presentIn(app, wanted.rooms).length - here.length - lately.length;
  for await (const _ of app.recentAuthors.list(snapshot, wanted)) others += 1;
  return { head, here, lately, others };
}

async function firstOf<Document extends object>(
  all: AsyncIterable<Document>,
  maxSize: number,
): Promise<Document[]> {
  const documents: Document[] = [];
  let size = 0;
  for await (const document of all) {
    size += JSON.stringify(document).length;
    if (size > maxSize) break;
    documents.push(document);
  }
  return documents;
}

function presentDocument(present: PresentVisitor, seeking: readonly string[]): PresentDocument {
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

function authorDocument(
  { identity, metadata }: RecentAuthor,
  seeking: readonly string[],
): LatelyDocument {
  const { id, kind, room, time } = metadata;
  return {
    identity,
    kind,
    room,
    seeking: [...seeking],
    lastSeen: new Date(time).toISOString(),
    entry: entryPath(id),
  };
}
