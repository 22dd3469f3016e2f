/**
 * The visitors whose newest entry is less than an hour old, and what they seek (PROTOCOL.md section
 * 13.4).
 *
 * Everything is read from the log. A bounded cache of the newest authors only saves reading entries
 * again for each request. Upholds that each author of the last hour is listed once, whatever their
 * number.
 */
import { FILTER_MEMBERS, visitorName, type Stamp } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Entry, Log, Selection, Seq } from '../log/log.ts';

const RECENT_MS = 60 * 60_000;
/** Maximum number of cached authors, and of characters of their names together. */
const CACHE_SIZE = 1024;
const CACHE_LENGTH = 1024 * 1024;
/** Longer entries are not read for their authors. */
const MAX_ENTRY_SIZE = 64 * 1024;

/** An identity and its newest entry. */
export interface RecentAuthor {
  readonly identity: string;
  readonly stamp: Stamp;
}

/** The cached authors at a head. */
export interface RecentAuthorsSnapshot {
  readonly head: Seq;
  /** Newest first. */
  readonly authors: readonly RecentAuthor[];
  /** May omit authors whose newest entry has this seq or an earlier one. */
  readonly floor: Seq;
}

export class RecentAuthors {
  readonly #log: Log;
  /** Newest entries by identity, the newest of all at the end. */
  readonly #cache = new Map<string, Stamp>();
  #head: Seq = 0;
  #floor: Seq = 0;
  #updating: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** At the head of the log when it is called, or a later one. */
  async snapshot(): Promise<RecentAuthorsSnapshot> {
    const head = this.#log.head();
    while (this.#head < head) {
      this.#updating ??= this.#update().finally(() => {
        this.#updating = undefined;
      });
      await this.#updating;
    }
    const authors = [...this.#cache].map(([identity, stamp]) => ({ identity, stamp })).toReversed();
    return { head: this.#head, authors, floor: this.#floor };
  }

  /** The authors in the snapshot, then those that it omits, in any of `rooms`, or anywhere without one. */
  async *list(
    { head, authors, floor }: RecentAuthorsSnapshot,
    { rooms, signal }: { readonly rooms: readonly string[]; readonly signal: AbortSignal },
  ): AsyncGenerator<RecentAuthor, void, undefined> {
    const since = this.#log.now() - RECENT_MS;
    for (const author of authors) {
      const { room, time } = author.stamp;
      if (time >= since && (rooms.length === 0 || rooms.includes(room))) yield author;
    }
    if (floor === 0) return;
    const listed = new Set(authors.map(({ identity }) => keyOf(identity)));
    const facets = rooms.length === 0 ? [] : [rooms.map((slug) => facet('room', slug))];
    const older = { facets, order: 'newest', before: floor + 1, since } as const;
    for await (const author of readAuthors(this.#log, older, signal)) {
      const key = keyOf(author.identity);
      if (listed.has(key)) continue;
      if (listed.size < 2 * CACHE_SIZE) listed.add(key);
      if (!(await this.#hasNewer(author, head))) yield author;
    }
  }

  /** Adds the authors of the entries since the last update. */
  async #update(): Promise<void> {
    const head = this.#log.head();
    const since = this.#log.now() - RECENT_MS;
    const range = { after: this.#head, before: head + 1 };
    const selection = { facets: [], order: 'newest', ...range, since } as const;
    const found = new Map<string, Stamp>();
    let floor = this.#floor;
    let length = 0;
    for await (const { identity, stamp } of readAuthors(this.#log, selection)) {
      if (found.has(identity)) continue;
      if (found.size === CACHE_SIZE || length > CACHE_LENGTH) {
        floor = stamp.seq;
        break;
      }
      found.set(identity, stamp);
      length += identity.length;
    }
    for (const [identity, stamp] of [...found].toReversed()) {
      this.#cache.delete(identity);
      this.#cache.set(identity, stamp);
    }
    this.#head = head;
    this.#floor = floor;
    this.#evict(since);
  }

  /** Removes authors that are not recent, and the oldest beyond the limits. */
  #evict(since: number): void {
    let length = [...this.#cache.keys()].reduce((sum, identity) => sum + identity.length, 0);
    for (const [identity, { seq, time }] of this.#cache) {
      const fits = this.#cache.size <= CACHE_SIZE && length <= CACHE_LENGTH;
      if (time >= since && seq > this.#floor && fits) return;
      if (time >= since) this.#floor = Math.max(this.#floor, seq);
      this.#cache.delete(identity);
      length -= identity.length;
    }
  }

  /** Whether the author has a newer entry up to `head` that is not too long to be read. */
  async #hasNewer({ identity, stamp }: RecentAuthor, head: Seq): Promise<boolean> {
    const facets = [facet('identity', identity)];
    const newer = { facets, order: 'newest', after: stamp.seq, before: head + 1 } as const;
    for await (const { size } of this.#log.readEntries(newer)) {
      if (size <= MAX_ENTRY_SIZE) return true;
    }
    return false;
  }
}

/** What the newest first contact of an identity seeks; empty if that entry is too long. */
export async function readSeeking(
  log: Log,
  identity: string,
  head: Seq,
): Promise<readonly string[]> {
  const facets = [facet('kind', 'resonance'), facet('identity', identity)];
  const newest = { facets, order: 'newest', before: head + 1, limit: 1 } as const;
  for await (const entry of log.readEntries(newest)) {
    const { seeking } = await readMembers(entry);
    return Array.isArray(seeking) ? seeking.filter((value) => typeof value === 'string') : [];
  }
  return [];
}

/** Each entry once for each identity that it has. */
async function* readAuthors(
  log: Log,
  selection: Selection,
  signal?: AbortSignal,
): AsyncGenerator<RecentAuthor, void, undefined> {
  for await (const entry of log.readEntries(selection)) {
    if (signal?.aborted === true) return;
    const members = await readMembers(entry);
    const identities = new Set(FILTER_MEMBERS.identity.map((name) => visitorName(members[name])));
    for (const identity of identities) {
      if (identity !== undefined) yield { identity, stamp: entry.stamp };
    }
  }
}

/** Short, whatever the length of the name. */
function keyOf(identity: string): string {
  return Buffer.from(facet('identity', identity)).toString('latin1');
}

const decoder = new TextDecoder();

/** Empty if the entry is too long. */
async function readMembers(entry: Entry): Promise<Record<string, unknown>> {
  if (entry.size > MAX_ENTRY_SIZE) return {};
  // A spooled entry has no `text`, even if it is short.
  const bytes =
    entry.text ??
    Buffer.concat(await Array.fromAsync(entry.chunks(), (chunk) => Buffer.from(chunk)));
  const value: unknown = JSON.parse(decoder.decode(bytes));
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
