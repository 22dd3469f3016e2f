/**
 * One pass over a selection: which seqs come next.
 *
 * Invariant: A read has nothing that was appended after it began, and blocks nobody.
 * Test: `test/log-contract/snapshots.ts` “has nothing that was appended after it was asked for”
 *   “lets a log be appended to while many readings stand open”
 *
 * Invariant: The index and the log together return what a plain list would.
 * Test: `test/log-contract/random-steps.ts` “does as the plain list does, whatever is appended and
 *   asked”
 * Test: `test/log-contract/many-entries.ts` “reads 70,000 small entries across every boundary
 *   inside”
 * Test: `test/oracle/oracle.test.ts` “a gateway agrees with the model …”
 */
import type { Order, ReadEnd, ReadPosition, Seq } from '../log/log.ts';
import type { Frame, FrameReader } from './index/frames.ts';
import type { SeqPage, SeqRange, SeqSource } from './seq-source.ts';
import type { WithheldSeqs } from './withholding/withheld-seqs.ts';

/** Bytes that a page of texts should have, and the rows of the first page. */
const PAGE_SIZE = 128 * 1024;
const FIRST_PAGE_ROWS = 64;
const MAX_PAGE_ROWS = 1024;
/** Frames are not looked up for fewer entries. */
const MIN_ENTRIES_FOR_FRAMES = 256;

export interface ScanOptions extends SeqRange {
  readonly order: Order;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
  /** Finds the seqs, if the selection has not all of the range. */
  readonly source: SeqSource | undefined;
  /** Leaves out what is withheld. */
  readonly withheld: WithheldSeqs | undefined;
  /** Seqs of a page, if no texts are read. */
  readonly rows?: number;
  /** The frames of the selected kind, if frames can be used. */
  readonly frames: FrameReader | undefined;
}

/** Either seqs, or a frame that is read as a whole; `seqs` is then its last one. */
interface ScanPage extends SeqPage {
  readonly frame?: Frame;
}

export class Scan {
  readonly #options: ScanOptions;
  #next: Seq | undefined;
  #left: number;
  #last: Seq | undefined;
  #rows: number;
  #pageStart: ReadPosition | undefined;
  /** The first entry of the frame that was skipped last. */
  #skippedTo: Seq = Infinity;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#left = options.limit;
    const { low, high, order, rows = FIRST_PAGE_ROWS } = options;
    this.#rows = rows;
    if (low <= high) this.#next = order === 'newest' ? high : low;
  }

  get hasNext(): boolean {
    return this.#next !== undefined && this.#left > 0;
  }

  /** Reads the entries of a frame from the log. */
  skipFrame({ first }: Frame): void {
    this.#skippedTo = first;
  }

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
    const frame = this.#frameUpTo(at);
    if (frame?.last === at) return { seqs: [at], frame, next: frame.previous };
    const page = this.#shownPage(at, limit);
    return page instanceof Promise
      ? page.then((found) => upToFrame(found, frame))
      : upToFrame(page, frame);
  }

  advance({ seqs, next, frame }: ScanPage): void {
    this.#last = frame?.first ?? seqs.at(-1) ?? this.#last;
    this.#next = next;
    this.#left -= frame?.count ?? seqs.length;
  }

  /** Adapts the size of the next pages to the size of the texts. */
  resize(bytes: number, rows: number): void {
    const average = Math.max(1, bytes / rows);
    this.#rows = Math.max(1, Math.min(MAX_PAGE_ROWS, Math.floor(PAGE_SIZE / average)));
  }

  async end(): Promise<ReadEnd> {
    const last = this.#last;
    const { signal } = this.#options;
    for (let from = this.#next; from !== undefined;) {
      signal?.throwIfAborted();
      const page = await this.#shownPage(from, 1);
      if (page.seqs.length > 0) return { last, more: true };
      from = page.next;
    }
    return { last, more: false };
  }

  #shownPage(at: Seq, limit: number): SeqPage | Promise<SeqPage> {
    const { source, withheld, low, high, order } = this.#options;
    const from = withheld?.next(at, order) ?? at;
    if (from < low || from > high) return { seqs: [], next: undefined };
    const page = source?.page(from, limit) ?? this.#consecutive(from, limit);
    if (withheld === undefined) return page;
    const shown = ({ seqs, next }: SeqPage): SeqPage => ({ seqs: withheld.shown(seqs), next });
    return page instanceof Promise ? page.then(shown) : shown(page);
  }

  #consecutive(at: Seq, limit: number): SeqPage {
    const { low, high, order } = this.#options;
    const step = order === 'newest' ? -1 : 1;
    const available = order === 'newest' ? at - low + 1 : high - at + 1;
    const length = Math.min(limit, available);
    const seqs = Array.from({ length }, (_, index) => at + step * index);
    return { seqs, next: available > limit ? at + step * limit : undefined };
  }

  /** The newest frame that ends at this entry or before, if all of it is wanted. */
  #frameUpTo(at: Seq): Frame | undefined {
    const { frames, low } = this.#options;
    if (frames === undefined || this.#left < MIN_ENTRIES_FOR_FRAMES) return undefined;
    const frame = frames.find(Math.min(at, this.#skippedTo - 1));
    return frame !== undefined && frame.first >= low && frame.count <= this.#left
      ? frame
      : undefined;
  }
}

function upToFrame(page: SeqPage, frame: Frame | undefined): ScanPage {
  const [first] = page.seqs;
  if (frame === undefined || first === undefined || frame.last < (page.next ?? 0)) return page;
  if (frame.last === first) return { seqs: [first], frame, next: frame.previous };
  return { seqs: page.seqs.filter((seq) => seq > frame.last), next: frame.last };
}
