/**
 * The naive store: one array, searched from end to end. Other stores are compared with it, so it is
 * simple rather than fast, and shares no code with them. It upholds the contract of `log/log.ts`
 * except for two points: entries do not outlive the process, and memory grows with them.
 */
import { randomInt, randomUUID } from 'node:crypto';

import {
  entryHead,
  entryId,
  type Filter,
  type Kind,
  SALTS,
  type Stamp,
} from '@open-presence/protocol';

import { alternatives, type Facet, FACET_SIZE } from '../../log/facet.ts';
import { stringValuesIn } from '../../json/string-values.ts';
import { tokenize } from '../../search/tokenizer.ts';
import type {
  AppendResult,
  Damage,
  RankedQuery,
  Draft,
  Entry,
  Log,
  LogRead,
  ReadEnd,
  Selection,
  Seq,
  Spool,
  RoomCount,
} from '../../log/log.ts';
import { matches, rankOf, type Values } from './rank.ts';

interface StoredEntry {
  readonly stamp: Stamp;
  /** In hex. */
  readonly facets: ReadonlySet<string>;
  readonly body: Buffer;
  readonly text: Buffer;
  /** Made when a search first needs them. */
  readonly values: Values;
  readonly spooled: boolean;
}

interface Page {
  readonly entries: readonly StoredEntry[];
  readonly end: ReadEnd;
  readonly signal: AbortSignal | undefined;
}

/** An empty log in memory. */
export function openMemoryLog(): Log {
  return new MemoryLog();
}

class MemoryLog implements Log {
  readonly id: string = randomUUID();
  readonly #salt = randomInt(SALTS);
  readonly #entries: StoredEntry[] = [];
  readonly #keys = new Map<string, StoredEntry>();
  readonly #watchers = new Set<() => void>();

  writable(): boolean {
    return true;
  }

  damage(): Damage {
    return { unreadable: 0, version: 0 };
  }

  now(): number {
    return Math.max(this.#entries.at(-1)?.stamp.time ?? 0, Date.now());
  }

  head(): Seq {
    return this.#entries.length;
  }

  spool(): Spool {
    return new MemorySpool();
  }

  async append({ kind, room, facets, key, body: source }: Draft): Promise<AppendResult> {
    const spooled = source instanceof MemorySpool;
    if (!spooled && !(source instanceof Uint8Array))
      throw new TypeError('Cannot append the spool of another log');
    const body = Buffer.concat(spooled ? source.chunks : [source]);
    const keyHex = key && hex(key);
    const earlier = keyHex === undefined ? undefined : this.#keys.get(keyHex);
    if (earlier !== undefined) {
      const { stamp } = earlier;
      const isSame = stamp.kind === kind && stamp.room === room && earlier.body.equals(body);
      return { outcome: isSame ? 'repeated' : 'conflict', stamp };
    }
    const stamp = this.#nextStamp(kind, room);
    const head = Buffer.from(entryHead(stamp) + (body.length > 0 ? ',' : ''));
    const allFacets = spooled ? [facets, ...source.facets.values()] : [facets];
    let values: Values | undefined;
    const stored: StoredEntry = {
      stamp,
      facets: new Set(split(Buffer.concat(allFacets))),
      body,
      text: Buffer.concat([head, body, Buffer.from('}')]),
      get values() {
        return (values ??= stringValuesIn(body).map(tokenize));
      },
      spooled,
    };
    this.#entries.push(stored);
    if (keyHex !== undefined) this.#keys.set(keyHex, stored);
    for (const callback of this.#watchers) callback();
    return { outcome: 'appended', stamp };
  }

  async entry(seq: Seq): Promise<Entry | undefined> {
    const stored = this.#entries.find(({ stamp }) => stamp.seq === seq);
    return stored && entryOf(stored);
  }

  // Selects before the generator starts: a read starts when it is called, not at its first step.
  readText(selection: Selection, joiner: ',\n' | '\n'): LogRead<Uint8Array> {
    return textsOf(this.#select(selection), Buffer.from(joiner));
  }

  readEntries(selection: Selection): LogRead<Entry> {
    return entriesOf(this.#select(selection));
  }

  searchWatermark(): Seq {
    return this.head();
  }

  readRanked({ skip, limit, ...query }: RankedQuery): LogRead<Entry> {
    const { entries: matching } = this.#select({ ...query, order: 'newest', limit: Infinity });
    const all = this.#entries.map(({ values }) => values);
    const ranked = matching
      .map((entry) => ({ entry, rank: rankOf(entry.values, query.textQuery, all) }))
      .toSorted((a, b) => b.rank - a.rank)
      .map(({ entry }) => entry);
    const entries = ranked.slice(skip, skip + limit);
    const end = { last: entries.at(-1)?.stamp.seq, more: ranked.length > skip + limit };
    return entriesOf({ entries, end, signal: query.signal });
  }

  roomCounts(): readonly RoomCount[] {
    const counts = new Map<string, RoomCount>();
    for (const { stamp } of this.#entries) {
      const { room, kind, seq, time } = stamp;
      const key = `${room} ${kind}`;
      const count = (counts.get(key)?.count ?? 0) + 1;
      counts.set(key, { room, kind, count, latest: { seq, time } });
    }
    return [...counts.values()];
  }

  firstSince(time: number): Seq {
    const first = this.#entries.find(({ stamp }) => stamp.time >= time);
    return first?.stamp.seq ?? this.head() + 1;
  }

  async countBetween(
    facet: Facet,
    bounds: readonly Seq[],
    signal?: AbortSignal,
  ): Promise<number[]> {
    signal?.throwIfAborted();
    return bounds.slice(1).map((end, index) => {
      const between = this.#entries.slice((bounds[index] ?? end) - 1, end - 1);
      return between.filter(({ facets }) => facets.has(hex(facet))).length;
    });
  }

  watch(onMove: () => void): Disposable {
    const callback = (): void => onMove();
    this.#watchers.add(callback);
    return { [Symbol.dispose]: () => void this.#watchers.delete(callback) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Owns nothing but memory.
  }

  #nextStamp(kind: Kind, room: string): Stamp {
    const seq = this.#entries.length + 1;
    const time = this.now();
    return { seq, id: entryId(time, seq, this.#salt), kind, room, time };
  }

  #select(selection: Selection): Page {
    const { after = 0, before = Infinity, since = -Infinity, until = Infinity } = selection;
    const wanted = selection.facets.map((condition) => alternatives(condition).map(hex));
    const matching = this.#entries.filter(
      (entry) =>
        entry.stamp.seq > after &&
        entry.stamp.seq < before &&
        entry.stamp.time >= since &&
        entry.stamp.time < until &&
        wanted.every((any) => any.some((facet) => entry.facets.has(facet))) &&
        (selection.textQuery === undefined || matches(entry.values, selection.textQuery)),
    );
    if (selection.order === 'newest') matching.reverse();
    const entries = matching.slice(0, selection.limit ?? matching.length);
    const end = { last: entries.at(-1)?.stamp.seq, more: entries.length < matching.length };
    return { entries, end, signal: selection.signal };
  }
}

class MemorySpool implements Spool {
  readonly chunks: Uint8Array[] = [];
  readonly facets = new Map<Filter, Buffer>();

  async write(bytes: Uint8Array): Promise<void> {
    this.chunks.push(Uint8Array.from(bytes));
  }

  async addFacets(facets: Uint8Array, filter: Filter): Promise<void> {
    this.facets.set(filter, Buffer.concat([this.facets.get(filter) ?? Buffer.alloc(0), facets]));
  }

  async removeFacets(filter: Filter): Promise<void> {
    this.facets.delete(filter);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Owns nothing but memory.
  }
}

/** Maximum size of a chunk. */
const CHUNK_SIZE = 65_536;

function entryOf({ stamp, text, spooled }: StoredEntry): Entry {
  return {
    stamp,
    size: text.length,
    text: spooled ? undefined : text,
    async *chunks(from = 0) {
      yield* chunksOf(text.subarray(from));
    },
  };
}

async function* entriesOf({ entries, end, signal }: Page): LogRead<Entry> {
  for (const entry of entries) {
    signal?.throwIfAborted();
    yield entryOf(entry);
  }
  return end;
}

async function* textsOf({ entries, end, signal }: Page, joiner: Uint8Array): LogRead<Uint8Array> {
  const parts = entries.flatMap(({ text }, index) => (index === 0 ? [text] : [joiner, text]));
  for (const chunk of chunksOf(Buffer.concat(parts))) {
    signal?.throwIfAborted();
    yield chunk;
  }
  return end;
}

function* chunksOf(text: Buffer): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < text.length; at += CHUNK_SIZE) yield text.subarray(at, at + CHUNK_SIZE);
}

/** Concatenated facets, each in hex. */
function split(facets: Uint8Array): string[] {
  const count = facets.length / FACET_SIZE;
  return Array.from({ length: count }, (_, index) =>
    hex(facets.subarray(index * FACET_SIZE, (index + 1) * FACET_SIZE)),
  );
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
