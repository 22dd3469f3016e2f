/**
 * The naive store: one array, searched from end to end. It owns a log that lives as long as the
 * process, and is what other stores are compared with, so it prefers being plainly right to being
 * fast, and shares no code with them. It refuses to know files, indexes and threads. It upholds
 * `log.contract.ts`; of the port's promises it leaves two: nothing outlives it, and memory grows.
 */
import { randomInt, randomUUID } from 'node:crypto';

import { entryHead, entryId, SALTS, type Filter, type Stamp } from '@open-presence/protocol';

import { FACET_SIZE } from '../../log/facet.ts';
import { stringValuesIn } from '../../json/string-values.ts';
import { wordsOf } from '../../search/tokenizer.ts';
import type {
  AppendResult,
  RankedQuery,
  Draft,
  Entry,
  Log,
  ReadEnd,
  Selection,
  Seq,
  Spool,
  RoomCount,
} from '../../log/log.ts';
import { isSaid, rankOf, type Values } from './rank.ts';

interface Stored {
  readonly stamp: Stamp;
  /** In hex. */
  readonly facets: ReadonlySet<string>;
  readonly body: Buffer;
  readonly text: Buffer;
  readonly values: Values;
  readonly spooled: boolean;
}

interface Mark {
  readonly filter: Filter;
  readonly facets: Uint8Array;
}

interface Chosen {
  readonly stored: readonly Stored[];
  readonly end: ReadEnd;
}

/** An empty log in memory. */
export function openMemoryLog(): Log {
  return new MemoryLog();
}

class MemoryLog implements Log {
  readonly id: string = randomUUID();
  readonly #salt = randomInt(SALTS);
  readonly #stored: Stored[] = [];
  readonly #keys = new Map<string, Stored>();
  readonly #watchers = new Set<() => void>();

  writable(): boolean {
    return true;
  }

  head(): Seq {
    return this.#stored.length;
  }

  spool(): Spool {
    return new MemorySpool();
  }

  async append(draft: Draft): Promise<AppendResult> {
    const spool = spoolOf(draft);
    const body = spool === undefined ? Buffer.from(bytesOf(draft)) : Buffer.concat(spool.chunks);
    const key = draft.key === undefined ? undefined : hex(draft.key);
    const earlier = key === undefined ? undefined : this.#keys.get(key);
    if (earlier !== undefined) {
      const outcome = isSame(earlier, draft, body) ? 'repeated' : 'conflict';
      return { outcome, stamp: earlier.stamp };
    }
    const stamp = this.#nextStamp(draft);
    const marked = spool?.marks.map(({ facets }) => facets) ?? [];
    const stored: Stored = {
      stamp,
      facets: new Set([draft.facets, ...marked].flatMap(split)),
      body,
      text: Buffer.concat([
        Buffer.from(entryHead(stamp) + (body.length > 0 ? ',' : '')),
        body,
        END,
      ]),
      values: stringValuesIn(body).map(wordsOf),
      spooled: spool !== undefined,
    };
    this.#stored.push(stored);
    if (key !== undefined) this.#keys.set(key, stored);
    for (const watcher of this.#watchers) watcher();
    return { outcome: 'appended', stamp };
  }

  async entry(seq: Seq): Promise<Entry | undefined> {
    const stored = this.#stored.find(({ stamp }) => stamp.seq === seq);
    return stored === undefined ? undefined : entryOf(stored);
  }

  // Chooses before the generator starts: a reading begins with its call, not with its first step.
  readText(
    selection: Selection,
    joiner: ',\n' | '\n',
  ): AsyncGenerator<Uint8Array, ReadEnd, undefined> {
    return texts(this.#choose(selection), Buffer.from(joiner));
  }

  readEntries(selection: Selection): AsyncGenerator<Entry, ReadEnd, undefined> {
    return entriesOf(this.#choose(selection));
  }

  searchWatermark(): Seq {
    return this.head();
  }

  readRanked({ skip, limit, ...what }: RankedQuery): AsyncGenerator<Entry, ReadEnd, undefined> {
    const { stored: fitting } = this.#choose({ ...what, order: 'newest', limit: Infinity });
    const texts = this.#stored.map(({ values }) => values);
    const ranked = fitting
      .map((one) => ({ one, rank: rankOf(one.values, what.textQuery, texts) }))
      .toSorted((a, b) => b.rank - a.rank)
      .map(({ one }) => one);
    const stored = ranked.slice(skip, skip + limit);
    const end = { last: stored.at(-1)?.stamp.seq, more: ranked.length > skip + limit };
    return entriesOf({ stored, end });
  }

  roomCounts(): readonly RoomCount[] {
    const tallies = new Map<string, RoomCount>();
    for (const { stamp } of this.#stored) {
      const { room, kind, seq, time } = stamp;
      const place = `${room} ${kind}`;
      const count = (tallies.get(place)?.count ?? 0) + 1;
      tallies.set(place, { room, kind, count, latest: { seq, time } });
    }
    return [...tallies.values()];
  }

  watch(moved: () => void): Disposable {
    const watcher = (): void => moved();
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Owns nothing but memory.
  }

  #nextStamp({ kind, room }: Draft): Stamp {
    const seq = this.#stored.length + 1;
    const time = Math.max(this.#stored.at(-1)?.stamp.time ?? 0, Date.now());
    return { seq, id: entryId(time, seq, this.#salt), kind, room, time };
  }

  #choose(selection: Selection): Chosen {
    const { after = 0, before = Infinity, since = -Infinity, until = Infinity } = selection;
    const wanted = selection.facets.map(hex);
    const fitting = this.#stored.filter(
      ({ stamp: { seq, time }, facets, values }) =>
        seq > after &&
        seq < before &&
        time >= since &&
        time < until &&
        wanted.every((facet) => facets.has(facet)) &&
        (selection.textQuery === undefined || isSaid(values, selection.textQuery)),
    );
    if (selection.order === 'newest') fitting.reverse();
    const stored = fitting.slice(0, selection.limit ?? fitting.length);
    const end = { last: stored.at(-1)?.stamp.seq, more: stored.length < fitting.length };
    return { stored, end };
  }
}

class MemorySpool implements Spool {
  readonly chunks: Uint8Array[] = [];
  /** Those that were taken back are gone from here. */
  marks: Mark[] = [];

  async write(bytes: Uint8Array): Promise<void> {
    this.chunks.push(Uint8Array.from(bytes));
  }

  async addFacets(facets: Uint8Array, filter: Filter): Promise<void> {
    this.marks.push({ filter, facets: Uint8Array.from(facets) });
  }

  async removeFacets(filter: Filter): Promise<void> {
    this.marks = this.marks.filter((mark) => mark.filter !== filter);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // What was not appended is in no log.
  }
}

const END = Buffer.from('}');
/** Longer texts are handed out in pieces of this size. */
const PIECE = 65_536;

function spoolOf({ body }: Draft): MemorySpool | undefined {
  return body instanceof MemorySpool ? body : undefined;
}

function bytesOf({ body }: Draft): Uint8Array {
  if (body instanceof Uint8Array) return body;
  throw new TypeError('Cannot append the spool of another log');
}

function isSame({ stamp, body: known }: Stored, { kind, room }: Draft, body: Buffer): boolean {
  return stamp.kind === kind && stamp.room === room && known.equals(body);
}

function entryOf({ stamp, text, spooled }: Stored): Entry {
  return {
    stamp,
    size: text.length,
    text: spooled ? undefined : text,
    async *chunks(from = 0) {
      yield* piecesOf(text.subarray(from));
    },
  };
}

async function* entriesOf({ stored, end }: Chosen): AsyncGenerator<Entry, ReadEnd, undefined> {
  for (const one of stored) yield entryOf(one);
  return end;
}

async function* texts(
  { stored, end }: Chosen,
  joiner: Uint8Array,
): AsyncGenerator<Uint8Array, ReadEnd, undefined> {
  for (const [index, { text }] of stored.entries()) {
    const joined = index === 0 ? text : Buffer.concat([joiner, text]);
    for (const piece of piecesOf(joined)) yield piece;
  }
  return end;
}

function* piecesOf(text: Buffer): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < text.length; at += PIECE) yield text.subarray(at, at + PIECE);
}

/** Joined facets, each in hex. */
function split(facets: Uint8Array): string[] {
  const count = facets.length / FACET_SIZE;
  return Array.from({ length: count }, (_, index) =>
    hex(facets.subarray(index * FACET_SIZE, (index + 1) * FACET_SIZE)),
  );
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
