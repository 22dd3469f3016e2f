/**
 * One pass over a selection: which seqs, or which chunk of them, come next.
 *
 * Invariant: A read has nothing that was appended after it began, and blocks nobody.
 * Test: `test/log-contract/snapshots.ts` “has nothing that was appended after it was asked for”
 *   “lets a log be appended to while many readings stand open”
 *
 * Invariant: Segments, chunks and the log together return what a plain list would.
 * Test: `test/log-contract/random-steps.ts` “does as the plain list does, whatever is appended and
 *   asked”
 * Test: `test/log-contract/many-entries.ts` “reads 70,000 small entries across every boundary
 *   inside”
 * Test: `test/oracle/oracle.test.ts` “a gateway agrees with the model …”
 */
import type { Order, ReadEnd, ReadPosition, Seq } from '../../log/log.ts';
import type { Chunk } from './segments/chunks/chunk-bounds.ts';
import type { ChunkCursor } from './segments/chunks/chunk-reader.ts';
import type { SeqPage, SeqRange, SeqSource } from './seq-source.ts';

/** Bytes that a page of texts should have, and the rows of the first page. */
const PAGE_SIZE = 128 * 1024;
const FIRST_PAGE_ROWS = 64;
const MAX_PAGE_ROWS = 1024;
/** Chunks are not looked up for fewer entries. */
const MIN_ENTRIES_FOR_CHUNKS = 256;

export interface ScanOptions extends SeqRange {
  readonly order: Order;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
  /** Finds the seqs, if the selection has not all of the range. */
  readonly source: SeqSource | undefined;
  /** The chunks of the selected kind, if chunks can be used. */
  readonly chunks: ChunkCursor | undefined;
}

/** Either seqs, or a chunk that is read as a whole; `seqs` is then its last one. */
export interface ScanPage extends SeqPage {
  readonly chunk?: Chunk;
}

export class Scan {
  readonly #options: ScanOptions;
  #next: Seq | undefined;
  #left: number;
  #last: Seq | undefined;
  #rows = FIRST_PAGE_ROWS;
  /** The first entry of the chunk that was skipped last. */
  #skippedTo: Seq = Infinity;
  #pageStart: ReadPosition | undefined;
  /** The chunk after the last one that was read. It is next if no entry of the kind is between them. */
  #followingChunk: Chunk | undefined;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#left = options.limit;
    const { low, high, order } = options;
    if (low <= high) this.#next = order === 'newest' ? high : low;
  }

  get hasNext(): boolean {
    return this.#next !== undefined && this.#left > 0;
  }

  /** Reads the entries of a chunk from the log. */
  skipChunk({ first }: Chunk): void {
    this.#skippedTo = first;
    this.#followingChunk = undefined;
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
    const { source } = this.#options;
    if (source === undefined) return this.#consecutive(at, limit);
    const chunk = this.#followingChunk;
    if (chunk?.last === at) return { seqs: [at], chunk, next: chunk.previous };
    const page = source.page(at, limit);
    return page instanceof Promise
      ? page.then((found) => this.#upToChunk(found))
      : this.#upToChunk(page);
  }

  advance(page: ScanPage): void {
    const { seqs, chunk, next } = page;
    this.#last = chunk?.first ?? seqs.at(-1) ?? this.#last;
    this.#next = next;
    this.#left -= chunk?.count ?? seqs.length;
    if (chunk !== undefined)
      this.#followingChunk = this.#options.chunks?.find(this.#options.low, next ?? 0, this.#left);
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

  /** The chunk if one starts here, else the seqs up to the next chunk. */
  #upToChunk(page: SeqPage): ScanPage {
    const [first] = page.seqs;
    if (first === undefined || this.#left < MIN_ENTRIES_FOR_CHUNKS) return page;
    const from = first >= this.#skippedTo ? this.#skippedTo - 1 : first;
    const chunk = this.#options.chunks?.find(this.#options.low, from, this.#left);
    if (chunk === undefined || chunk.last < (page.next ?? 0)) return page;
    if (chunk.last === first) return { seqs: [first], chunk, next: chunk.previous };
    return { seqs: page.seqs.filter((seq) => seq > chunk.last), next: chunk.last };
  }
}
