/** What the store's writer has done. */
import { add, allocateCells, Buckets, type Cells, type HistogramValue } from './cells.ts';

/** In seconds. */
export const FLUSH_BUCKETS: Buckets = new Buckets([
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]);
/** For the entries of a commit. */
export const ENTRY_BUCKETS: Buckets = new Buckets([0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]);
/** For the bytes of a commit, from 256 bytes to 1 GiB. */
export const BYTE_BUCKETS: Buckets = new Buckets(
  Array.from({ length: 12 }, (_, power) => 256 * 4 ** power),
);

/** What may become of a draft. */
export const APPEND_OUTCOMES = [
  'appended',
  'repeated',
  'conflict',
  'out-of-space',
  'unavailable',
  'copied',
] as const;

export type AppendOutcomeName = (typeof APPEND_OUTCOMES)[number];

const OUTCOMES = 0;
const FLUSH = OUTCOMES + APPEND_OUTCOMES.length;
const ENTRIES = FLUSH + FLUSH_BUCKETS.size;
const BYTES = ENTRIES + ENTRY_BUCKETS.size;

interface RecordedCommit {
  /** Entries that it stored, and the bytes of what their visitors said. */
  readonly entries: number;
  readonly bytes: number;
  readonly flushMs: number;
}

export class StoreMetrics {
  readonly #cells: Cells;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Float64Array(memory);
  }

  static allocate(): SharedArrayBuffer {
    return allocateCells(BYTES + BYTE_BUCKETS.size);
  }

  recordAppend(outcome: AppendOutcomeName, count: number = 1): void {
    add(this.#cells, OUTCOMES + APPEND_OUTCOMES.indexOf(outcome), count);
  }

  recordCommit({ entries, bytes, flushMs }: RecordedCommit): void {
    FLUSH_BUCKETS.observe(this.#cells, FLUSH, flushMs / 1000);
    ENTRY_BUCKETS.observe(this.#cells, ENTRIES, entries);
    BYTE_BUCKETS.observe(this.#cells, BYTES, bytes);
  }

  appends(outcome: AppendOutcomeName): number {
    return this.#cells[OUTCOMES + APPEND_OUTCOMES.indexOf(outcome)] ?? 0;
  }

  get flushes(): HistogramValue {
    return FLUSH_BUCKETS.read(this.#cells, FLUSH);
  }

  get commitEntries(): HistogramValue {
    return ENTRY_BUCKETS.read(this.#cells, ENTRIES);
  }

  get commitBytes(): HistogramValue {
    return BYTE_BUCKETS.read(this.#cells, BYTES);
  }
}
