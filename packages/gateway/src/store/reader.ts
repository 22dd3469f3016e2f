/**
 * Reads the log in the calling thread. Between two chunks it holds no statement, and other requests have their
 * turn.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';

import { Turns, yieldPeriodically } from '../fair-turns.ts';
import type { Facet } from '../log/facet.ts';
import type {
  ChainRange,
  Entry,
  LogRead,
  NewestQuery,
  RankedEntry,
  RankedQuery,
  RoomCount,
  Selection,
  Seq,
  StoredEncoding,
  StoredText,
  TextRead,
  Withholding,
  WithholdingRange,
  WithholdingState,
} from '../log/log.ts';
import { orWithheld } from '../log/thread.ts';
import { portableEntry } from '../json/portable-entry.ts';
import { openForReading, readMeta } from './database.ts';
import type { DataPaths } from './data-paths.ts';
import { RowReader } from './log/row-reader.ts';
import { ChainReader } from './log/chain-reader.ts';
import { hiddenSeqs, lastWithheld, statesOf } from './withholding/withheld-table.ts';
import { EntryReader } from './log/entry-reader.ts';
import type { WithheldSeqs } from './withholding/withheld-seqs.ts';
import { readWithholdings } from './withholding/withholding-reader.ts';
import { Scan, type ScanOptions } from './scan.ts';
import { countBetween, RoomCounter } from './index/counts.ts';
import { MAX_INDEXED_SIZE } from './index/entry-tokens.ts';
import { FacetSource, type FacetSources, meetsNow } from './index/facet-source.ts';
import { FRAME_JOINER, FrameReader, kindOf } from './index/frames.ts';
import { IndexReader } from './index/index-database.ts';
import { newestOfIdentities } from './index/newest-of-identities.ts';
import type { FromReader } from './index/search-calls.ts';
import { type RankedResult, SearchClient, unavailable } from './index/search-client.ts';
import type { SeqRange, SeqSource } from './seq-source.ts';
import type { SharedState } from './shared-state.ts';

const NO_SEPARATOR = new Uint8Array(0);
const SEQS_OF_PAGE = 512;

function filtered(source: SeqSource, isWanted: (seq: Seq) => boolean): SeqSource {
  return {
    async page(from, limit) {
      const { seqs, next } = await source.page(from, limit);
      return { seqs: seqs.filter(isWanted), next };
    },
  };
}

/** The reading half of a log. */
export class LogReader {
  readonly id: string;
  protected readonly shared: SharedState;
  protected readonly rows: RowReader;
  readonly #queries: SearchClient;
  readonly #log: DatabaseSync;
  readonly #facets: FacetSources;
  readonly #entries: EntryReader;
  readonly #chain: ChainReader;
  readonly #rooms: RoomCounter;
  readonly #withheld: WithheldSeqs;
  readonly #onStale: (frame: number) => void;

  /** `port`: leads to the thread of the index. */
  constructor(paths: DataPaths, shared: SharedState, port: MessagePort) {
    this.shared = shared;
    this.#queries = new SearchClient(port);
    this.#log = openForReading(paths.log);
    this.id = String(readMeta(this.#log, 'name'));
    const rows = new RowReader(this.#log);
    this.rows = rows;
    const index = new IndexReader(paths, shared, (spoiledIndex) =>
      port.postMessage({ spoiledIndex } satisfies FromReader),
    );
    this.#facets = { index, log: rows, shared };
    this.#entries = new EntryReader(rows, paths);
    this.#chain = new ChainReader(rows, this.#entries);
    this.#rooms = new RoomCounter(this.#facets);
    this.#withheld = rows.withheld;
    this.#onStale = (staleFrame) => port.postMessage({ staleFrame } satisfies FromReader);
  }

  writable(): boolean {
    const { writable, streamHolding, readOnly } = this.shared;
    return writable && !streamHolding && readOnly === 0;
  }

  withheld(): number {
    return this.shared.withheld;
  }

  /** Whether `withheld` has come as far as what is decided. */
  protected hasAllWithheld(): boolean {
    return lastWithheld(this.#log) <= this.withheld();
  }

  withholdings(range: WithholdingRange): AsyncGenerator<Withholding, void, undefined> {
    return readWithholdings(this.#log, this.rows, range, this.withheld());
  }

  head(): Seq {
    return this.shared.head;
  }

  now(): number {
    return Math.max(Date.now(), this.shared.newestTime);
  }

  searchWatermark(): Seq {
    return this.shared.indexed;
  }

  roomCounts(): readonly RoomCount[] {
    return this.#rooms.counts(this.head());
  }

  firstSince(time: number): Seq {
    return this.#entries.firstSince(time, this.head());
  }

  async countBetween(
    facet: Facet,
    bounds: readonly Seq[],
    signal?: AbortSignal,
  ): Promise<number[]> {
    return await countBetween(this.#facets, facet, bounds, signal);
  }

  async entry(seq: Seq, form?: 'exact' | 'hidden'): Promise<Entry | undefined> {
    if (form === 'hidden') return this.#isSeq(seq) ? this.#entries.hiddenEntry(seq) : undefined;
    const exact = this.#isSeq(seq) ? await this.#entries.exactEntry(seq) : undefined;
    return form === 'exact' ? exact : exact && portableEntry(exact);
  }

  // These are not generators themselves, because a read starts when it is called.
  readText(selection: Selection, joiner: ',\n' | '\n'): TextRead;
  readText(
    selection: Selection,
    joiner: ',\n' | '\n',
    stored: StoredEncoding | undefined,
  ): TextRead<Uint8Array | StoredText>;
  readText(
    selection: Selection,
    joiner: ',\n' | '\n',
    stored?: StoredEncoding,
  ): TextRead<Uint8Array | StoredText> {
    const kind = joiner === FRAME_JOINER ? kindOf(selection) : undefined;
    const frames =
      kind && new FrameReader(this.#facets.index, this.#log, { kind, onStale: this.#onStale });
    const options = { ...this.#scanOptions(selection), frames };
    const scan = new Scan(options);
    const texts = this.#scanTexts(scan, options, joiner, stored);
    return Object.assign(texts, { position: () => scan.pageStart });
  }

  readEntries(selection: Selection): LogRead<Entry> {
    return this.#scanEntries({ ...this.#scanOptions(selection), frames: undefined });
  }

  async *readSeqs(selection: Selection): AsyncGenerator<readonly Seq[], void, undefined> {
    const { signal } = selection;
    const options = { ...this.#scanOptions(selection), frames: undefined, rows: SEQS_OF_PAGE };
    const takeTurn = yieldPeriodically(signal);
    for (const scan = new Scan(options); scan.hasNext;) {
      const page = await scan.nextPage();
      if (page.seqs.length > 0) yield page.seqs;
      scan.advance(page);
      await takeTurn();
      signal?.throwIfAborted();
    }
  }

  hidden(last: Seq): readonly Seq[] {
    return hiddenSeqs(this.#log, last);
  }

  searchedInPart(last: Seq): readonly Seq[] {
    return this.rows.withLarge(MAX_INDEXED_SIZE, last);
  }

  states(seqs: readonly Seq[]): ReadonlyMap<Seq, WithholdingState> {
    return statesOf(this.#log, seqs);
  }

  smallTexts(seqs: readonly Seq[]): ReadonlyMap<Seq, Uint8Array> {
    const rows = this.rows.storedRows(seqs);
    const small = rows.filter(({ large, isErased }) => large === undefined && !isErased);
    return new Map(small.map(({ seq, text }) => [seq, text]));
  }

  linkAt(seq: Seq): string {
    return this.#chain.linkAt(seq);
  }

  readChain(range: ChainRange): TextRead {
    return this.#chain.read(range, this.head());
  }

  readRanked(query: RankedQuery): LogRead<RankedEntry> {
    return this.#entriesOf(this.#queries.ranked(query, this.#range(query)), query);
  }

  readNewestOfIdentities(query: NewestQuery): AsyncGenerator<Entry, void, undefined> {
    const usable = async (seq: Seq): Promise<Entry | undefined> => {
      const entry = await this.#entryAt(seq);
      const isReadable = entry?.withheld === undefined && entry?.portability !== 'omitted';
      const isUsable = isReadable && (entry?.size ?? Infinity) <= query.maxSize;
      return isUsable ? entry : undefined;
    };
    return newestOfIdentities(this.rows, this.#range(query), usable);
  }

  protected async closeReader(): Promise<void> {
    this.#queries.close();
    this.#log.close();
    this.#facets.index[Symbol.dispose]();
  }

  #entryAt(seq: Seq): Entry | Promise<Entry | undefined> | undefined {
    return this.#isSeq(seq) ? this.#entries.entry(seq) : undefined;
  }

  #isSeq(seq: Seq): boolean {
    return Number.isSafeInteger(seq) && seq >= 1 && seq <= this.head();
  }

  async *#scanTexts(
    scan: Scan,
    options: ScanOptions,
    joiner: string,
    encoding: StoredEncoding | undefined,
  ): LogRead<Uint8Array | StoredText> {
    const separator = Buffer.from(joiner);
    const { frames } = options;
    const turns = new Turns(options.signal);
    let before: Uint8Array = NO_SEPARATOR;
    while (scan.hasNext) {
      options.signal?.throwIfAborted();
      const next = scan.nextPage();
      const page = next instanceof Promise ? await next : next;
      if (frames !== undefined && page.frame !== undefined) {
        const { frame } = page;
        const stored = encoding && frames.stored(frame, encoding, before.length > 0);
        const text = encoding === undefined ? frames.text(frame) : undefined;
        if (stored === undefined && text === undefined) {
          // The log has the same entries.
          scan.skipFrame(frame);
          continue;
        }
        if (text !== undefined && before.length > 0) yield before;
        before = separator;
        if (text !== undefined) yield text;
        scan.advance(page);
        if (stored !== undefined) yield { ...stored, end: scan.position };
        turns.startSlice();
        continue;
      }
      if (page.seqs.length > 0) {
        const text = this.#entries.joinTexts(page.seqs, joiner);
        if (text !== undefined) {
          scan.resize(text.length, page.seqs.length);
          if (before.length > 0) yield before;
          before = separator;
          yield text;
          // Whoever reads takes turns by itself.
          turns.startSlice();
        } else {
          scan.holdPage();
          for await (const entry of this.#entriesAt(page.seqs, options)) {
            if (before.length > 0) yield before;
            before = separator;
            yield* entry.chunks();
          }
        }
      }
      scan.advance(page);
      if (turns.isOver) await turns.next();
    }
    return await scan.end();
  }

  /** Leaves out what cannot be read at all, and what was withheld since its seq was found. */
  async *#entriesAt(
    seqs: readonly Seq[],
    { withheld }: Pick<ScanOptions, 'withheld'>,
  ): AsyncGenerator<Entry> {
    for (const seq of seqs) {
      const found = this.#entryAt(seq);
      const entry = found instanceof Promise ? await found : found;
      const isLeftOut = withheld !== undefined && entry?.withheld !== undefined;
      if (entry !== undefined && !isLeftOut) yield entry;
    }
  }

  async *#scanEntries(options: ScanOptions): LogRead<Entry> {
    const scan = new Scan(options);
    const yieldTurn = yieldPeriodically(options.signal);
    while (scan.hasNext) {
      const page = await scan.nextPage();
      for await (const entry of this.#entriesAt(page.seqs, options)) {
        yield entry;
        await yieldTurn();
        options.signal?.throwIfAborted();
      }
      scan.advance(page);
      await yieldTurn();
      options.signal?.throwIfAborted();
    }
    return await scan.end();
  }

  async *#entriesOf(
    results: LogRead<RankedResult>,
    { facets, signal }: Pick<RankedQuery, 'facets' | 'signal'>,
  ): LogRead<RankedEntry> {
    const meets = meetsNow(this.rows, facets, false);
    const yieldTurn = yieldPeriodically(signal);
    try {
      for (let step = await results.next(); ; step = await results.next()) {
        if (step.done === true) return step.value;
        signal?.throwIfAborted();
        const { seq, next, rankedFrom } = step.value;
        if (meets?.(seq) === false) continue;
        const shown = this.#entriesAt([seq], { withheld: this.#withheld });
        for await (const entry of shown) yield { ...entry, next, rankedFrom };
        await yieldTurn();
      }
    } finally {
      await results.return({ last: undefined, more: false });
    }
  }

  #scanOptions(selection: Selection): Omit<ScanOptions, 'frames'> {
    const { order, limit = Number.POSITIVE_INFINITY, signal } = selection;
    const range = this.#range(selection);
    const withheld = selection.withheld === undefined ? this.#withheld : undefined;
    const source = this.#source(selection, range);
    return { ...range, order, limit, signal, source, withheld };
  }

  #source(
    { facets: wanted, textQuery, order, signal, withheld }: Selection,
    range: SeqRange,
  ): SeqSource | undefined {
    const facets = withheld === undefined ? wanted : orWithheld(wanted);
    const all = withheld === 'all';
    if (textQuery === undefined && facets.length === 0) return undefined;
    const source =
      textQuery === undefined
        ? new FacetSource(this.#facets, { facets, order, signal, withheld, ...range })
        : this.#queries.matches({ textQuery, facets, order, signal, all }, range);
    const meets = meetsNow(this.rows, facets, withheld === 'include');
    return meets === undefined ? source : filtered(source, meets);
  }

  #range({
    after,
    before,
    since,
    until,
    textQuery,
  }: Omit<Selection, 'order' | 'facets'>): SeqRange {
    const { head, indexed, searchFailing } = this.shared;
    // An answer without results would seem to say that there are none.
    if (textQuery !== undefined && searchFailing && indexed === 0 && head > 0) throw unavailable();
    let low = (after ?? 0) + 1;
    let high = Math.min(
      textQuery === undefined ? head : indexed,
      (before ?? Number.POSITIVE_INFINITY) - 1,
    );
    if (since !== undefined) low = Math.max(low, this.#entries.firstSince(since, head));
    if (until !== undefined) high = Math.min(high, this.#entries.firstSince(until, head) - 1);
    return { low, high };
  }
}
