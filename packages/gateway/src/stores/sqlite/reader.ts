/**
 * Reads the log on the thread it is asked on: pages of rows by seq, runs where a whole kind is
 * wanted, files where an entry is large. Between two pieces it holds no statement and no
 * transaction, and lets other requests have their turn.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Kind, Stamp } from '@open-presence/protocol';

import type {
  RankedQuery,
  Entry,
  Order,
  ReadEnd,
  Selection,
  Seq,
  RoomCount,
} from '../../log/log.ts';
import { yieldPeriodically } from '../../fair-turns.ts';
import { Joiner } from './index/joiner.ts';
import { largePieces } from './log/large-files.ts';
import { type Run, RUN_JOINER, RunReading, RunsReader } from './index/runs.ts';
import { openForReading, type DataPaths } from './schema.ts';
import { type Finding, type Page, Search } from './index/seq-finder.ts';
import type { Shared } from './shared.ts';
import { KIND_OF_FACET, keyOf, Tail } from './index/tail.ts';
import type { WordsLine } from './words/client.ts';

/** Bytes that a page of rows aims at, and the rows it begins with. */
const PAGE_SIZE = 128 * 1024;
const FIRST_ROWS = 64;
const MOST_ROWS = 1024;
/** Runs are worth asking for from here on. */
const LEAST_FOR_RUNS = 256;

/** A selection with its bounds as seqs, both inclusive. */
export interface Bounds {
  readonly low: Seq;
  readonly high: Seq;
}

/** Where a reading stands. */
interface Reading {
  readonly order: Order;
  readonly bounds: Bounds;
  readonly search: Finding | undefined;
  /** Of the kind that is read, if it has runs that can be used. */
  readonly runs: RunReading | undefined;
  /** Next seq to look at, undefined at the end. */
  at: Seq | undefined;
  /** How many entries may still be given. */
  left: number;
  last: Seq | undefined;
  rows: number;
  /** The run that comes next, if no newer entries lie before it. */
  following?: Run | undefined;
}

/** Where a page of a reading lies. */
interface Stretch {
  readonly seqs: Seq[];
  readonly run?: Run;
  readonly next: Seq | undefined;
}

export class Reader {
  readonly #places: DataPaths;
  readonly #shared: Shared;
  readonly #words: WordsLine;
  readonly #log: DatabaseSync;
  readonly #index: DatabaseSync;
  readonly #tail: Tail;
  readonly #runs: RunsReader;
  readonly #row: StatementSync;
  readonly #timeOf: StatementSync;
  readonly #tallies: StatementSync;
  readonly #newest: StatementSync;
  readonly #joiners = new Map<string, Joiner>();

  constructor(places: DataPaths, shared: Shared, words: WordsLine) {
    this.#places = places;
    this.#shared = shared;
    this.#words = words;
    this.#log = openForReading(places.log);
    this.#index = openForReading(places.index);
    this.#tail = new Tail(this.#log);
    this.#runs = new RunsReader(this.#index, places);
    this.#row = this.#log.prepare(
      'SELECT seq, time, kind, room, size, large, text FROM entries WHERE seq = ?',
    );
    this.#timeOf = this.#log.prepare('SELECT time FROM entries WHERE seq = ?');
    // One statement sees one state of the index: its tallies and how far they count.
    this.#tallies = this.#index.prepare(
      `SELECT room, kind, count, seq, time,
         (SELECT value FROM meta WHERE name = 'indexed') AS indexed FROM tallies`,
    );
    this.#newest = this.#log.prepare(
      'SELECT room, kind, count(*) AS count, max(seq) AS seq, max(time) AS time FROM entries WHERE seq > ? AND seq <= ? GROUP BY room, kind',
    );
  }

  entry(seq: Seq): Entry | undefined {
    if (!Number.isSafeInteger(seq) || seq < 1 || seq > this.#shared.head) return undefined;
    const row = this.#row.get(seq);
    if (row === undefined) return undefined;
    const text = row['text'] as Uint8Array;
    const large = row['large'] as string | null;
    const places = this.#places;
    return {
      stamp: stampOf(row, text),
      size: row['size'] as number,
      text: large === null ? text : undefined,
      async *chunks(from = 0): AsyncGenerator<Uint8Array> {
        if (from < text.length) yield text.subarray(from);
        if (large !== null) yield* largePieces(places, large, Math.max(0, from - text.length));
      },
    };
  }

  read(selection: Selection, joiner: string): AsyncGenerator<Uint8Array, ReadEnd, undefined> {
    return this.#joined(this.#begin(selection, joiner === RUN_JOINER), joiner);
  }

  entries(selection: Selection): AsyncGenerator<Entry, ReadEnd, undefined> {
    return this.#single(this.#begin(selection, false));
  }

  best(what: RankedQuery): AsyncGenerator<Entry, ReadEnd, undefined> {
    return this.#best(this.#words.best(what, this.#bounds(what)));
  }

  tally(): RoomCount[] {
    const tallies = new Map<string, RoomCount>();
    const counted = this.#tallies.all();
    const indexed = (counted[0]?.['indexed'] as Seq | undefined) ?? 0;
    const rows = [...counted, ...this.#newest.all(indexed, this.#shared.head)];
    for (const row of rows) {
      const { room, kind, count, seq, time } = row as unknown as Row;
      const key = `${kind} ${room}`;
      const before = tallies.get(key)?.count ?? 0;
      tallies.set(key, { room, kind, count: before + count, latest: { seq, time } });
    }
    return [...tallies.values()];
  }

  async close(): Promise<void> {
    await this.#runs.close();
    this.#log.close();
    this.#index.close();
  }

  async *#joined(reading: Reading, joiner: string): AsyncGenerator<Uint8Array, ReadEnd, undefined> {
    const between = Buffer.from(joiner);
    await using runs = reading.runs;
    const fair = yieldPeriodically();
    while (reading.at !== undefined && reading.left > 0) {
      const page = this.#page(reading);
      const { seqs, run, next } = page instanceof Promise ? await page : page;
      if (reading.last !== undefined && seqs.length > 0) yield between;
      if (runs !== undefined && run !== undefined) {
        advance(reading, run.first, run.first - 1, run.count);
        reading.following = runAfter(reading);
        yield* runs.pieces(run, reading.following);
        continue;
      }
      if (seqs.length > 0) yield* this.#texts(reading, seqs, joiner);
      advance(reading, seqs.at(-1), next, seqs.length);
      // Awaiting what is ready already lets nobody else have a turn.
      await fair();
    }
    return await this.#end(reading);
  }

  async *#single(reading: Reading): AsyncGenerator<Entry, ReadEnd, undefined> {
    const fair = yieldPeriodically();
    while (reading.at !== undefined && reading.left > 0) {
      const { seqs, next } = await this.#page(reading);
      for (const seq of seqs) {
        const entry = this.entry(seq);
        if (entry !== undefined) yield entry;
        await fair();
      }
      advance(reading, seqs.at(-1), next, seqs.length);
      await fair();
    }
    return await this.#end(reading);
  }

  async *#best(seqs: AsyncGenerator<Seq, ReadEnd>): AsyncGenerator<Entry, ReadEnd, undefined> {
    const fair = yieldPeriodically();
    try {
      for (let step = await seqs.next(); ; step = await seqs.next()) {
        if (step.done === true) return step.value;
        const entry = this.entry(step.value);
        if (entry !== undefined) yield entry;
        await fair();
      }
    } finally {
      await seqs.return({ last: undefined, more: false });
    }
  }

  #begin(selection: Selection, useRuns: boolean): Reading {
    const { facets, textQuery, order, limit } = selection;
    const bounds = this.#bounds(selection);
    const newest = order === 'newest';
    const until = newest ? bounds.low : bounds.high;
    const [first] = facets;
    const only =
      useRuns && newest && facets.length === 1 && textQuery === undefined ? first : undefined;
    const kind = only && KIND_OF_FACET.get(keyOf(Buffer.from(only), 0));
    return {
      order,
      bounds,
      search: this.#finding(selection, bounds, until),
      runs: kind && new RunReading(this.#runs, kind),
      at: bounds.low > bounds.high ? undefined : newest ? bounds.high : bounds.low,
      left: limit ?? Number.POSITIVE_INFINITY,
      last: undefined,
      rows: FIRST_ROWS,
    };
  }

  #finding(
    { facets, textQuery, order }: Selection,
    bounds: Bounds,
    until: Seq,
  ): Finding | undefined {
    if (textQuery !== undefined) return this.#words.finding({ textQuery, facets, order }, bounds);
    if (facets.length === 0) return undefined;
    return new Search(this.#index, this.#tail, this.#shared, { facets, order, until });
  }

  #bounds({ after, before, since, until, textQuery }: Omit<Selection, 'order'>): Bounds {
    const end = textQuery === undefined ? this.#shared.head : this.#shared.searched;
    let low = (after ?? 0) + 1;
    let high = Math.min(end, (before ?? Number.POSITIVE_INFINITY) - 1);
    if (since !== undefined) low = Math.max(low, this.#firstAt(since));
    if (until !== undefined) high = Math.min(high, this.#firstAt(until) - 1);
    return { low, high };
  }

  /** The first seq with at least this time; times never go backwards along seq. */
  #firstAt(time: number): Seq {
    let low = 1;
    let high = this.#shared.head + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.#timeOf.get(middle)?.['time'] as number) >= time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** What comes next: a run if one begins here, else rows up to the next run. */
  #page(reading: Reading): Stretch | Promise<Stretch> {
    const { order, bounds, search, at = 0, left } = reading;
    const most = Math.min(reading.rows, left);
    if (search === undefined) {
      const step = order === 'newest' ? -1 : 1;
      const there = order === 'newest' ? at - bounds.low + 1 : bounds.high - at + 1;
      const seqs = Array.from({ length: Math.min(most, there) }, (_, index) => at + step * index);
      return { seqs, next: there > most ? at + step * most : undefined };
    }
    const { following } = reading;
    if (following?.last === at) return { seqs: [at], run: following, next: following.first - 1 };
    const page = search.page(at, most);
    return page instanceof Promise
      ? page.then(({ seqs, from }) => ({ seqs, next: from }))
      : this.#uptoRun(reading, page);
  }

  #uptoRun({ bounds, runs, left }: Reading, { seqs, from }: Page): Stretch {
    const first = seqs[0];
    if (runs === undefined || first === undefined || left < LEAST_FOR_RUNS)
      return { seqs, next: from };
    const run = runs.find(bounds.low, first, left);
    if (run === undefined || run.last < (from ?? 0)) return { seqs, next: from };
    if (run.last === first) return { seqs, run, next: run.first - 1 };
    return { seqs: seqs.filter((seq) => seq > run.last), next: run.last };
  }

  async *#texts(
    reading: Reading,
    seqs: readonly Seq[],
    joiner: string,
  ): AsyncGenerator<Uint8Array> {
    const { joined, large } = this.#joiner(reading.order, joiner).join(seqs);
    if (large === 0) {
      const each = Math.max(1, joined.length / seqs.length);
      reading.rows = Math.max(1, Math.min(MOST_ROWS, Math.floor(PAGE_SIZE / each)));
      yield joined;
      return;
    }
    for (const [index, seq] of seqs.entries()) {
      if (index > 0) yield Buffer.from(joiner);
      const entry = this.entry(seq);
      if (entry !== undefined) yield* entry.chunks();
    }
  }

  #joiner(order: Order, joiner: string): Joiner {
    const key = `${order} ${joiner}`;
    let known = this.#joiners.get(key);
    if (known === undefined) this.#joiners.set(key, (known = new Joiner(this.#log, order, joiner)));
    return known;
  }

  async #end(reading: Reading): Promise<ReadEnd> {
    const { last, at, bounds } = reading;
    if (at === undefined) return { last, more: false };
    if (reading.search === undefined) return { last, more: at >= bounds.low && at <= bounds.high };
    for (let from: Seq | undefined = at; from !== undefined;) {
      const page = await reading.search.page(from, 1);
      if (page.seqs.length > 0) return { last, more: true };
      from = page.from;
    }
    return { last, more: false };
  }
}

function runAfter({ runs, at = 0, left, bounds }: Reading): Run | undefined {
  return runs?.find(bounds.low, at, left);
}

interface Row {
  readonly room: string;
  readonly kind: Kind;
  readonly count: number;
  readonly seq: Seq;
  readonly time: number;
}

function advance(
  reading: Reading,
  last: Seq | undefined,
  at: Seq | undefined,
  count: number,
): void {
  reading.last = last ?? reading.last;
  reading.at = at;
  reading.left -= count;
}

/** `text` begins with `{"id":"` and the id. */
function stampOf(row: Record<string, unknown>, text: Uint8Array): Stamp {
  return {
    seq: row['seq'] as number,
    id: Buffer.from(text.buffer, text.byteOffset + 7, 36).toString('latin1'),
    kind: row['kind'] as Kind,
    room: row['room'] as string,
    time: row['time'] as number,
  };
}
