/** What the store's writer has done. */
import { add, allocateCells, Buckets, type Cells, type HistogramValue } from './cells.ts';

/** In seconds. */
export const FLUSH_BUCKETS: Buckets = new Buckets([
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10,
]);

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

const FLUSH = APPEND_OUTCOMES.length;

export class StoreMetrics {
  readonly #cells: Cells;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Float64Array(memory);
  }

  static allocate(): SharedArrayBuffer {
    return allocateCells(FLUSH + FLUSH_BUCKETS.size);
  }

  recordAppend(outcome: AppendOutcomeName, count: number = 1): void {
    add(this.#cells, APPEND_OUTCOMES.indexOf(outcome), count);
  }

  recordFlush(milliseconds: number): void {
    FLUSH_BUCKETS.observe(this.#cells, FLUSH, milliseconds / 1000);
  }

  appends(outcome: AppendOutcomeName): number {
    return this.#cells[APPEND_OUTCOMES.indexOf(outcome)] ?? 0;
  }

  get flushes(): HistogramValue {
    return FLUSH_BUCKETS.read(this.#cells, FLUSH);
  }
}
