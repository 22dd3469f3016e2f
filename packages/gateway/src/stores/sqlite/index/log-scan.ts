/** Finds the entries of a facet in the log itself, where the index does not have them. */
import { type Facet, FACET_SIZE } from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import type { BlockReader, SeqSpan } from '../log/block-reader.ts';
import { largeFacets } from '../log/large-files.ts';
import { atOrAbove, atOrBelow, type SeekResult } from './postings.ts';

/** Entries that are looked at together: some milliseconds of work. */
const WINDOW = 4096;
/** What a window counts for beside a look into a part of the index. */
const WINDOW_PARTS = 64;

/** Reads which entries of a span have a facet. */
export class LogScan {
  readonly #paths: DataPaths;
  readonly #log: BlockReader;

  constructor(log: BlockReader, paths: DataPaths) {
    this.#paths = paths;
    this.#log = log;
  }

  /** Ascending. Leaves out what cannot be read. */
  seqsWith(facet: Facet, span: SeqSpan): Seq[] {
    const seqs: Seq[] = [];
    for (const { seq, facets, large, marked } of this.#log.rows(span)) {
      // A match between two facets would be one of 128 bits of their digests.
      const isFound =
        facets.includes(facet) || (marked && large !== undefined && this.#isInFile(large, facet));
      if (isFound) seqs.push(seq);
    }
    return seqs;
  }

  #isInFile(large: string, facet: Facet): boolean {
    for (const chunk of largeFacets(this.#paths, large)) {
      const facets = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
      for (let at = 0; at < facets.length; at += FACET_SIZE)
        if (facets.compare(facet, 0, FACET_SIZE, at, at + FACET_SIZE) === 0) return true;
    }
    return false;
  }
}

/** Walks the entries of one facet in one direction. Holds those of one window. */
export class LogScanCursor {
  readonly #scan: LogScan;
  readonly #facet: Facet;
  readonly #order: Order;
  #window: SeqSpan = { from: 0, to: -1 };
  #seqs: readonly Seq[] = [];

  constructor(scan: LogScan, facet: Facet, order: Order) {
    this.#scan = scan;
    this.#facet = facet;
    this.#order = order;
  }

  /** The first seq at or beyond `from`, but not beyond `until`; looks at one window. */
  seek(from: Seq, until: Seq): SeekResult {
    const newest = this.#order === 'newest';
    if (newest ? from < until : from > until) return 'none';
    const { from: first, to: last } = this.#window;
    if (from < first || from > last) this.#load(from, until);
    const seq = newest ? atOrBelow(this.#seqs, from) : atOrAbove(this.#seqs, from);
    if (seq !== undefined) return (newest ? seq < until : seq > until) ? 'none' : { seq };
    const next = newest ? this.#window.from - 1 : this.#window.to + 1;
    return (newest ? next < until : next > until)
      ? 'none'
      : { nothingUntil: next, parts: WINDOW_PARTS };
  }

  #load(from: Seq, until: Seq): void {
    this.#window =
      this.#order === 'newest'
        ? { from: Math.max(until, from - WINDOW + 1), to: from }
        : { from, to: Math.min(until, from + WINDOW - 1) };
    this.#seqs = this.#scan.seqsWith(this.#facet, this.#window);
  }
}
