/**
 * Numbers in memory that threads share. One thread alone changes a cell, so that counting is a plain
 * addition; the thread that reports metrics reads all of them.
 */
export type Cells = Float64Array<SharedArrayBuffer>;

export function allocateCells(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(count * Float64Array.BYTES_PER_ELEMENT);
}

export function add(cells: Cells, at: number, amount: number = 1): void {
  cells[at] = (cells[at] ?? 0) + amount;
}

/** A histogram as it is read. */
export interface HistogramValue {
  /** How many values are at most each bound of the buckets; the last is the number of all values. */
  readonly cumulative: readonly number[];
  readonly sum: number;
}

/** The form of a histogram: one cell for each bucket, one for larger values, and one for the sum. */
export class Buckets {
  readonly bounds: readonly number[];

  /** `bounds` ascend. A value that equals a bound is in its bucket. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
  }

  /** How many cells a histogram takes. */
  get size(): number {
    return this.bounds.length + 2;
  }

  observe(cells: Cells, at: number, value: number): void {
    const { bounds } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    add(cells, at + bucket);
    add(cells, at + bounds.length + 1, value);
  }

  read(cells: Cells, at: number): HistogramValue {
    let total = 0;
    const counts = cells.subarray(at, at + this.bounds.length + 1);
    const cumulative = Array.from(counts, (count) => (total += count));
    return { cumulative, sum: cells[at + this.bounds.length + 1] ?? 0 };
  }
}
