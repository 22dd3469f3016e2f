/**
 * Who spoke lately, and what each seeks (PROTOCOL.md section 13.4).
 *
 * All of it is read from the log. What is kept between readings, in flat memory, only saves reading
 * an entry again for each who asks, and is read again when it is lost. Upholds that whoever spoke
 * within the hour is told once, however many they are.
 */
import { FILTER_MEMBERS, type Stamp } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Entry, Log, Selection, Seq } from '../log/log.ts';

/** How long ago is lately. */
const LATELY_MS = 60 * 60_000;
/** So many names are kept, those who spoke last. */
const KEPT = 1024;
/** Characters that they may take together. */
const KEPT_LENGTH = 1024 * 1024;
/** Longer entries are not read for a name. */
const LONGEST_READ = 64 * 1024;

/** An identity, and its newest entry. */
export interface RecentAuthor {
  readonly identity: string;
  readonly stamp: Stamp;
}

/** What was known at a head. */
export interface RecentAuthorsSnapshot {
  readonly head: Seq;
  /** Newest first. */
  readonly authors: readonly RecentAuthor[];
  /** Whose newest entry is not later than this may be missing. */
  readonly floor: Seq;
}

export interface RecentAuthorsQuery {
  /** Slugs; each must be the room of the newest entry. */
  readonly rooms: readonly string[];
  /** Aborted when nobody wants more. */
  readonly signal: AbortSignal;
}

export class RecentAuthors {
  readonly #log: Log;
  /** Newest entries by identity, the newest of all at the end. */
  readonly #kept = new Map<string, Stamp>();
  #head: Seq = 0;
  #floor: Seq = 0;
  #reading: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** At the head of now, or a later one. */
  async snapshot(): Promise<RecentAuthorsSnapshot> {
    const head = this.#log.head();
    while (this.#head < head) {
      this.#reading ??= this.#readOn().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    const list = [...this.#kept].map(([identity, stamp]) => ({ identity, stamp })).toReversed();
    return { head: this.#head, authors: list, floor: this.#floor };
  }

  /** Those who are known, then whoever else the log has. */
  async *spoke(
    known: RecentAuthorsSnapshot,
    { rooms, signal }: RecentAuthorsQuery,
  ): AsyncGenerator<RecentAuthor, void, undefined> {
    const since = Date.now() - LATELY_MS;
    for (const one of known.authors) {
      const { room, time } = one.stamp;
      if (time >= since && rooms.every((slug) => slug === room)) yield one;
    }
    if (known.floor === 0) return;
    const told = new Set(known.authors.map(({ identity }) => keyOf(identity)));
    const facets = rooms.map((slug) => facet('room', slug));
    const rest = { facets, order: 'newest', before: known.floor + 1, since } as const;
    for await (const one of walk(this.#log, rest, signal)) {
      const key = keyOf(one.identity);
      if (told.has(key)) continue;
      if (told.size < 2 * KEPT) told.add(key);
      if (!(await this.#spokeSince(one, known.head))) yield one;
    }
  }

  async #readOn(): Promise<void> {
    const head = this.#log.head();
    const since = Date.now() - LATELY_MS;
    const news = {
      facets: [],
      order: 'newest',
      after: this.#head,
      before: head + 1,
      since,
    } as const;
    const found = new Map<string, Stamp>();
    let floor = this.#floor;
    let length = 0;
    for await (const { identity, stamp } of walk(this.#log, news)) {
      if (found.has(identity)) continue;
      if (found.size === KEPT || length > KEPT_LENGTH) {
        floor = stamp.seq;
        break;
      }
      found.set(identity, stamp);
      length += identity.length;
    }
    for (const [identity, stamp] of [...found].toReversed()) {
      this.#kept.delete(identity);
      this.#kept.set(identity, stamp);
    }
    this.#head = head;
    this.#floor = floor;
    this.#forget(since);
  }

  /** Forgets what is long ago, and the oldest of what is too much. */
  #forget(since: number): void {
    let length = [...this.#kept.keys()].reduce((sum, identity) => sum + identity.length, 0);
    for (const [identity, { seq, time }] of this.#kept) {
      const isMuch = this.#kept.size > KEPT || length > KEPT_LENGTH;
      if (time >= since && seq > this.#floor && !isMuch) return;
      if (time >= since) this.#floor = Math.max(this.#floor, seq);
      this.#kept.delete(identity);
      length -= identity.length;
    }
  }

  /** Whether there is a newer entry that counts. */
  async #spokeSince({ identity, stamp }: RecentAuthor, head: Seq): Promise<boolean> {
    const facets = [facet('identity', identity)];
    const newer = { facets, order: 'newest', after: stamp.seq, before: head + 1 } as const;
    for await (const { size } of this.#log.readEntries(newer))
      if (size <= LONGEST_READ) return true;
    return false;
  }
}

/** What the newest first contact of an identity seeks; nothing where that is too long. */
export async function readSeeking(
  log: Log,
  identity: string,
  head: Seq,
): Promise<readonly string[]> {
  const facets = [facet('kind', 'resonance'), facet('identity', identity)];
  const newest = { facets, order: 'newest', before: head + 1, limit: 1 } as const;
  for await (const entry of log.readEntries(newest)) {
    const { seeking } = await membersOf(entry);
    return Array.isArray(seeking) ? seeking.filter((thing) => typeof thing === 'string') : [];
  }
  return [];
}

/** Every entry by every name. */
async function* walk(
  log: Log,
  selection: Selection,
  signal?: AbortSignal,
): AsyncGenerator<RecentAuthor, void, undefined> {
  for await (const entry of log.readEntries(selection)) {
    if (signal?.aborted === true) return;
    const { stamp } = entry;
    for (const identity of await identitiesOf(entry)) yield { identity, stamp };
  }
}

/** Short whatever the length of the name. */
function keyOf(identity: string): string {
  return Buffer.from(facet('identity', identity)).toString('latin1');
}

/** Every name by which a listing finds the entry. */
async function identitiesOf(entry: Entry): Promise<ReadonlySet<string>> {
  const members = await membersOf(entry);
  const said = FILTER_MEMBERS.identity.map((name) => members[name]);
  return new Set(said.filter((name) => typeof name === 'string'));
}

const decoder = new TextDecoder();

/** None where the entry is too long. */
async function membersOf(entry: Entry): Promise<Record<string, unknown>> {
  if (entry.size > LONGEST_READ) return {};
  // Not held although it is short: it can be found by many things.
  const bytes = entry.text ?? (await gathered(entry.chunks()));
  const value: unknown = JSON.parse(decoder.decode(bytes));
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

async function gathered(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(pieces, (piece) => Buffer.from(piece)));
}
