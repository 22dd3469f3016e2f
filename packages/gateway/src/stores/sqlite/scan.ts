/** One pass over a selection: which seqs, or which run of them, come next. */
import type { Order, ReadEnd, ReadPosition, Seq } from '../../log/log.ts';
import type { Run } from './segments/runs/run-bounds.ts';
import type { RunCursor } from './segments/runs/runs-reader.ts';
import type { SeqPage, SeqRange, SeqSource } from './seq-source.ts';

/** Bytes that a page of texts should have, and the rows of the first page. */
const PAGE_SIZE = 128 * 1024;
const FIRST_PAGE_ROWS = 64;
const MAX_PAGE_ROWS = 1024;
/** Runs are not looked up for fewer entries. */
const MIN_ENTRIES_FOR_RUNS = 256;

export interface ScanOptions extends SeqRange {
  readonly order: Order;
  readonly limit: number;
  /** Ends the pass. */
  readonly signal: AbortSignal | undefined;
  /** Finds the seqs, if the selection has not all of the range. */
  readonly source: SeqSource | undefined;
  /** The runs of the selected kind, if runs can be used. */
  readonly runs: RunCursor | undefined;
}

/** Either seqs, or a run that is read as a whole; `seqs` is then its last one. */
export interface ScanPage extends SeqPage {
  readonly run?: Run;
}

export class Scan {
  readonly #options: ScanOptions;
  #next: Seq | undefined;
  #left: number;
  #last: Seq | undefined;
  #rows = FIRST_PAGE_ROWS;
  readonly #runs: RunCursor | undefined;
  /** The first entry of the run that was skipped last. */
  #skippedTo: Seq = Infinity;
  #pageStart: ReadPosition | undefined;
  /** The run directly after the one that was read last, if no other entries are between them. */
  #followingRun: Run | undefined;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#left = options.limit;
    this.#runs = options.runs;
    const { low, high, order } = options;
    if (low <= high) this.#next = order === 'newest' ? high : low;
  }

  get hasNext(): boolean {
    return this.#next !== undefined && this.#left > 0;
  }

  /** Reads the entries of a run from the log. */
  skipRun({ first }: Run): void {
    this.#skippedTo = first;
    this.#followingRun = undefined;
  }

  /** Where a new pass continues. */
  get position(): ReadPosition {
    return { last: this.#last, left: this.#left };
  }

  /** Where the current page starts, undefined if it was held. */
  get pageStart(): ReadPosition | undefined {
    return this.#pageStart;
  }

  /** To be called if reading the current page again may give other bytes, or take long. */
  holdPage(): void {
    this.#pageStart = undefined;
  }

  /** Returns a value rather than a promise where it can: awaiting costs more than a small page. */
  nextPage(): ScanPage | Promise<ScanPage> {
    const at = this.#next ?? 0;
    this.#pageStart = this.position;
    const limit = Math.min(this.#rows, this.#left);
    const { source } = this.#options;
    if (source === undefined) return this.#consecutive(at, limit);
    const run = this.#followingRun;
    if (run?.last === at) return { seqs: [at], run, next: run.first - 1 };
    const page = source.page(at, limit);
    return page instanceof Promise
      ? page.then((found) => this.#upToRun(found))
      : this.#upToRun(page);
  }

  /** Continues after a page. */
  advance(page: ScanPage): void {
    const { seqs, run, next } = page;
    this.#last = run?.first ?? seqs.at(-1) ?? this.#last;
    this.#next = next;
    this.#left -= run?.count ?? seqs.length;
    if (run !== undefined)
      this.#followingRun = this.#runs?.find(this.#options.low, next ?? 0, this.#left);
  }

  /** Adapts the size of the next pages to the size of the texts. */
  resize(bytes: number, rows: number): void {
    const average = Math.max(1, bytes / rows);
    this.#rows = Math.max(1, Math.min(MAX_PAGE_ROWS, Math.floor(PAGE_SIZE / average)));
  }

  async end(): Promise<ReadEnd> {
    const last = this.#last;
    const { source, signal } = this.#options;
    if (source === undefined) return { last, more: this.#next !== undefined };
    for (let from = this.#next; from !== undefined;) {
      signal?.throwIfAborted();
      const page = await source.page(from, 1);
      if (page.seqs.length > 0) return { last, more: true };
      from = page.next;
    }
    return { last, more: false };
  }

  #consecutive(at: Seq, limit: number): SeqPage {
    const { low, high, order } = this.#options;
    const step = order === 'newest' ? -1 : 1;
    const available = order === 'newest' ? at - low + 1 : high - at + 1;
    const length = Math.min(limit, available);
    const seqs = Array.from({ length }, (_, index) => at + step * index);
    return { seqs, next: available > limit ? at + step * limit : undefined };
  }

  /** The run if one starts here, else the seqs up to the next run. */
  #upToRun(page: SeqPage): ScanPage {
    const [first] = page.seqs;
    if (first === undefined || this.#left < MIN_ENTRIES_FOR_RUNS) return page;
    const from = first >= this.#skippedTo ? this.#skippedTo - 1 : first;
    const run = this.#runs?.find(this.#options.low, from, this.#left);
    if (run === undefined || run.last < (page.next ?? 0)) return page;
    if (run.last === first) return { seqs: [first], run, next: run.first - 1 };
    return { seqs: page.seqs.filter((seq) => seq > run.last), next: run.last };
  }
}
