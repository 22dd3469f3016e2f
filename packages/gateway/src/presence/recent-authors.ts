/**
 * The visitors whose newest entry is less than an hour old, and what they seek (PROTOCOL.md section
 * 13.4).
 *
 * Everything is read from the log, which walks the entries of the hour in turns. A bounded cache of the
 * newest authors only saves walking them again for each request.
 *
 * Invariant: Each author of the last hour is listed once, whatever their number, in flat memory.
 * Test: `packages/gateway/src/doors/rest/recent-authors.test.ts` “has each once, however many
 *   spoke” “reads each entry once, however many ask who spoke”
 * Test: `packages/gateway/src/store/index/newest-of-identities.test.ts` “the newest
 *   entry of each identity is found, of those that are short and neither hidden nor withheld”
 */
import type { EntryMetadata } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Log, NewestQuery, Seq } from '../log/log.ts';
import { identitiesOf, keyOf, MAX_ENTRY_SIZE, readMembers } from './read-members.ts';
import { SeekingReader } from './seeking.ts';

const RECENT_MS = 60 * 60_000;
/** Maximum number of cached authors, and of characters of their names together. */
const CACHE_SIZE = 1024;
const CACHE_LENGTH = 1024 * 1024;

export interface RecentAuthor {
  readonly identity: string;
  readonly metadata: EntryMetadata;
}

export interface RecentAuthorsSnapshot {
  readonly head: Seq;
  /** Newest first. */
  readonly authors: readonly RecentAuthor[];
  /** May omit authors whose newest entry has this seq or an earlier one. */
  readonly floor: Seq;
}

export class RecentAuthors {
  readonly #log: Log;
  readonly #isHidden: (identity: string) => boolean;
  /** Newest entries by identity, the newest of all at the end. */
  readonly #cache = new Map<string, EntryMetadata>();
  #head: Seq = 0;
  #floor: Seq = 0;
  #updating: Promise<void> | undefined;
  readonly seeking: SeekingReader;
  #withheld = 0;

  /** `isHidden`: whether a name is to be in no list. */
  constructor(log: Log, isHidden: (identity: string) => boolean = () => false) {
    this.#log = log;
    this.#isHidden = isHidden;
    this.seeking = new SeekingReader(log);
  }

  /** At the head of the log when it is called, or a later one. */
  async snapshot(): Promise<RecentAuthorsSnapshot> {
    const head = this.#log.head();
    this.#forgetWithheld();
    while (this.#head < head) {
      this.#updating ??= this.#update().finally(() => {
        this.#updating = undefined;
      });
      await this.#updating;
    }
    const authors = [...this.#cache]
      .map(([identity, metadata]) => ({ identity, metadata }))
      .toReversed();
    return { head: this.#head, authors, floor: this.#floor };
  }

  /** The authors in the snapshot, then those that it omits, in any of `rooms`, or anywhere without rooms. */
  async *list(
    { head, authors, floor }: RecentAuthorsSnapshot,
    { rooms, signal }: { readonly rooms: readonly string[]; readonly signal: AbortSignal },
  ): AsyncGenerator<RecentAuthor, void, undefined> {
    const since = this.#log.now() - RECENT_MS;
    for (const author of authors) {
      const { room, time } = author.metadata;
      if (this.#isHidden(author.identity)) continue;
      if (time >= since && (rooms.length === 0 || rooms.includes(room))) yield author;
    }
    if (floor === 0) return;
    const listed = new Set(authors.map(({ identity }) => keyOf(identity)));
    for await (const author of readAuthors(this.#log, { before: floor + 1, since }, signal)) {
      if (rooms.length > 0 && !rooms.includes(author.metadata.room)) continue;
      if (this.#isHidden(author.identity)) continue;
      const key = keyOf(author.identity);
      if (listed.has(key)) continue;
      if (listed.size < 2 * CACHE_SIZE) listed.add(key);
      if (!(await this.#hasNewer(author, head))) yield author;
    }
  }

  /** Forgets all names once some of them may have been withheld. */
  #forgetWithheld(): void {
    const withheld = this.#log.withheld();
    if (withheld === this.#withheld) return;
    this.#withheld = withheld;
    this.#cache.clear();
    this.#head = this.#floor = 0;
  }

  /** Adds the authors of the entries since the last update. */
  async #update(): Promise<void> {
    const withheld = this.#log.withheld();
    const head = this.#log.head();
    const since = this.#log.now() - RECENT_MS;
    const selection = { after: this.#head, before: head + 1, since };
    const found = new Map<string, EntryMetadata>();
    let floor = this.#floor;
    let length = 0;
    for await (const { identity, metadata } of readAuthors(this.#log, selection)) {
      if (found.has(identity)) continue;
      if (found.size === CACHE_SIZE || length > CACHE_LENGTH) {
        floor = metadata.seq;
        break;
      }
      found.set(identity, metadata);
      length += identity.length;
    }
    if (withheld !== this.#withheld) return;
    for (const [identity, metadata] of [...found].toReversed()) {
      this.#cache.delete(identity);
      this.#cache.set(identity, metadata);
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
  async #hasNewer({ identity, metadata }: RecentAuthor, head: Seq): Promise<boolean> {
    const facets = [facet('identity', identity)];
    const newer = { facets, order: 'newest', after: metadata.seq, before: head + 1 } as const;
    for await (const { size, portability } of this.#log.readEntries(newer)) {
      if (size <= MAX_ENTRY_SIZE && portability !== 'omitted') return true;
    }
    return false;
  }
}

/** At least the newest entry of each identity, once for each identity that it has. */
async function* readAuthors(
  log: Log,
  selection: Omit<NewestQuery, 'maxSize'>,
  signal?: AbortSignal,
): AsyncGenerator<RecentAuthor, void, undefined> {
  for await (const entry of log.readNewestOfIdentities({ ...selection, maxSize: MAX_ENTRY_SIZE })) {
    if (signal?.aborted === true) return;
    for (const identity of identitiesOf(await readMembers(entry)))
      yield { identity, metadata: entry.metadata };
  }
}
