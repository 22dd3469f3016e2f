/**
 * Reads the log in the calling thread: pages of rows by seq, runs where a whole kind is wanted, files
 * where an entry is large. Between two chunks it holds no statement and no transaction, and yields
 * to other requests.
 */
import type { DatabaseSync } from 'node:sqlite';

import { yieldPeriodically } from '../../fair-turns.ts';
import type { Entry, Log, LogRead, RankedQuery, RoomCount, Selection, Seq } from '../../log/log.ts';
import { openForReading, readMeta } from './database.ts';
import type { DataPaths } from './data-paths.ts';
import { FacetSearch, type FacetSources } from './index/facet-search.ts';
import { roomCounter } from './index/room-counter.ts';
import { facetKey, KIND_BY_FACET_KEY } from './index/postings.ts';
import { RUN_JOINER } from './index/runs-writer.ts';
import { RunCursor, RunsReader } from './index/runs-reader.ts';
import { UnindexedTail } from './index/unindexed-tail.ts';
import { EntryReader } from './log/entry-reader.ts';
import { Scan, type ScanOptions } from './scan.ts';
import type { SeqRange, SeqSource } from './seq-source.ts';
import type { SharedState } from './shared-state.ts';
import type { QueryClient } from './words/query-client.ts';

/** The reading half of a log. */
export class LogReader implements Omit<
  Log,
  'spool' | 'append' | 'watch' | typeof Symbol.asyncDispose
> {
  readonly id: string;
  protected readonly shared: SharedState;
  readonly #queries: QueryClient;
  readonly #log: DatabaseSync;
  readonly #facets: FacetSources;
  readonly #entries: EntryReader;
  readonly #runs: RunsReader;
  readonly #roomCounts: (head: Seq) => RoomCount[];

  constructor(paths: DataPaths, shared: SharedState, queries: QueryClient) {
    this.shared = shared;
    this.#queries = queries;
    this.#log = openForReading(paths.log);
    this.id = String(readMeta(this.#log, 'name'));
    const index = openForReading(paths.index);
    this.#facets = { index, tail: new UnindexedTail(this.#log), shared };
    this.#entries = new EntryReader(this.#log, paths);
    this.#runs = new RunsReader(index, paths);
    this.#roomCounts = roomCounter(this.#log, index);
  }

  writable(): boolean {
    return this.shared.writable;
  }

  head(): Seq {
    return this.shared.head;
  }

  searchWatermark(): Seq {
    return this.shared.searched;
  }

  roomCounts(): RoomCount[] {
    return this.#roomCounts(this.head());
  }

  async entry(seq: Seq): Promise<Entry | undefined> {
    return this.#entryAt(seq);
  }

  // These are not generators themselves, because a read starts when it is called.
  readText(selection: Selection, joiner: ',\n' | '\n'): LogRead<Uint8Array> {
    const runs = joiner === RUN_JOINER ? this.#runsOf(selection) : undefined;
    return this.#scanTexts(this.#scanOptions(selection, runs), joiner);
  }

  readEntries(selection: Selection): LogRead<Entry> {
    return this.#scanEntries(this.#scanOptions(selection));
  }

  readRanked(query: RankedQuery): LogRead<Entry> {
    return this.#entriesOf(this.#queries.ranked(query, this.#range(query)));
  }

  protected async closeReader(): Promise<void> {
    await this.#runs.close();
    this.#log.close();
    this.#facets.index.close();
  }

  #entryAt(seq: Seq): Entry | undefined {
    if (!Number.isSafeInteger(seq) || seq < 1 || seq > this.head()) return undefined;
    return this.#entries.entry(seq);
  }

  async *#scanTexts(options: ScanOptions, joiner: string): LogRead<Uint8Array> {
    const scan = new Scan(options);
    const separator = Buffer.from(joiner);
    await using runs = options.runs;
    const yieldTurn = yieldPeriodically();
    while (scan.hasNext) {
      options.signal?.throwIfAborted();
      const next = scan.nextPage();
      const page = next instanceof Promise ? await next : next;
      if (!scan.isFirst && page.seqs.length > 0) yield separator;
      if (runs !== undefined && page.run !== undefined) {
        scan.advance(page);
        yield* runs.chunks(page.run, scan.followingRun);
        continue;
      }
      if (page.seqs.length > 0) {
        const { text, hasLarge } = this.#entries.joinTexts(page.seqs, options.order, joiner);
        if (hasLarge === 1) yield* this.#largeTexts(page.seqs, separator);
        else {
          scan.resize(text.length, page.seqs.length);
          yield text;
        }
      }
      scan.advance(page);
      await yieldTurn();
    }
    return await scan.end();
  }

  async *#largeTexts(seqs: readonly Seq[], separator: Uint8Array): AsyncGenerator<Uint8Array> {
    for (const [index, seq] of seqs.entries()) {
      if (index > 0) yield separator;
      const entry = this.#entryAt(seq);
      if (entry !== undefined) yield* entry.chunks();
    }
  }

  async *#scanEntries(options: ScanOptions): LogRead<Entry> {
    const scan = new Scan(options);
    const yieldTurn = yieldPeriodically();
    while (scan.hasNext) {
      const page = await scan.nextPage();
      for (const seq of page.seqs) {
        options.signal?.throwIfAborted();
        const entry = this.#entryAt(seq);
        if (entry !== undefined) yield entry;
        await yieldTurn();
      }
      scan.advance(page);
      await yieldTurn();
      options.signal?.throwIfAborted();
    }
    return await scan.end();
  }

  async *#entriesOf(seqs: LogRead<Seq>): LogRead<Entry> {
    const yieldTurn = yieldPeriodically();
    try {
      for (let step = await seqs.next(); ; step = await seqs.next()) {
        if (step.done === true) return step.value;
        const entry = this.#entryAt(step.value);
        if (entry !== undefined) yield entry;
        await yieldTurn();
      }
    } finally {
      await seqs.return({ last: undefined, more: false });
    }
  }

  #scanOptions(selection: Selection, runs?: RunCursor): ScanOptions {
    const { order, limit = Number.POSITIVE_INFINITY, signal } = selection;
    const range = this.#range(selection);
    return { ...range, order, limit, signal, source: this.#source(selection, range), runs };
  }

  /** The runs of a kind, if the selection has nothing but its entries, newest first. */
  #runsOf({ facets, textQuery, order }: Selection): RunCursor | undefined {
    const [first] = facets;
    if (!(first instanceof Uint8Array) || facets.length > 1) return undefined;
    if (textQuery !== undefined || order !== 'newest') return undefined;
    const kind = KIND_BY_FACET_KEY.get(facetKey(Buffer.from(first), 0));
    return kind && new RunCursor(this.#runs, kind);
  }

  #source({ facets, textQuery, order }: Selection, range: SeqRange): SeqSource | undefined {
    if (textQuery !== undefined) return this.#queries.matches({ textQuery, facets, order }, range);
    if (facets.length === 0) return undefined;
    const until = order === 'newest' ? range.low : range.high;
    return new FacetSearch(this.#facets, { facets, order, until });
  }

  #range({ after, before, since, until, textQuery }: Omit<Selection, 'order'>): SeqRange {
    const { head, searched } = this.shared;
    let low = (after ?? 0) + 1;
    let high = Math.min(
      textQuery === undefined ? head : searched,
      (before ?? Number.POSITIVE_INFINITY) - 1,
    );
    if (since !== undefined) low = Math.max(low, this.#entries.firstSince(since, head));
    if (until !== undefined) high = Math.min(high, this.#entries.firstSince(until, head) - 1);
    return { low, high };
  }
}
