/**
 * The inverted index: for each facet, the seqs that have it, newest or oldest first.
 *
 * The log is cut into parts of 65,536 seqs, and each part's postings lie together. So adding to the
 * index costs the same however long the log is, and a seq within a part takes two bytes.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Facet } from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';

export const PART_SIZE = 65_536;
/** Rows are filled up to about this many seqs: a page or two of the database. */
const ROW_SEQS = 2048;
/** Bytes of a seq. */
const WIDTH = 2;
const NONE = new Uint16Array(0);

export function partOf(seq: Seq): number {
  return Math.floor(seq / PART_SIZE);
}

/** Adds postings; runs inside the indexer's transaction. */
export class PostingsWriter {
  readonly #last: StatementSync;
  readonly #put: StatementSync;
  /** The row that is being written: a million of small arrays would be slow to collect. */
  readonly #bytes = Buffer.allocUnsafeSlow(ROW_SEQS * WIDTH);

  constructor(db: DatabaseSync) {
    this.#last = db.prepare(
      'SELECT seqs FROM postings WHERE part = ? AND facet = ? ORDER BY first DESC LIMIT 1',
    );
    this.#put = db.prepare('INSERT OR REPLACE INTO postings VALUES (?, ?, ?, ?)');
  }

  /** `seqs`: ascending, of one part, all newer than what the facet has. */
  add(part: number, facet: Facet, seqs: readonly Seq[]): void {
    const last = this.#last.get(part, facet)?.['seqs'] as Uint8Array | undefined;
    let count = 0;
    if (last !== undefined && last.length < ROW_SEQS * WIDTH) {
      this.#bytes.set(last);
      count = last.length / WIDTH;
    }
    for (const seq of seqs) {
      if (count === ROW_SEQS) {
        this.#row(part, facet, count);
        count = 0;
      }
      this.#bytes.writeUInt16LE(seq % PART_SIZE, count * WIDTH);
      count += 1;
    }
    this.#row(part, facet, count);
  }

  #row(part: number, facet: Facet, count: number): void {
    const first = this.#bytes.readUInt16LE(0);
    this.#put.run(part, facet, first, this.#bytes.subarray(0, count * WIDTH));
  }
}

/** What a step of a search found: the seq, or how far it has looked without finding one. */
export type Sought =
  | { readonly seq: Seq }
  /** `looked`: into how many parts. */
  | { readonly nothingUntil: Seq; readonly looked: number }
  | 'none';

/** Cursors of one direction. They share a statement: there may be a million facets to look for. */
export function postingsIn(db: DatabaseSync, order: Order): (facet: Facet) => PostingsCursor {
  const find = db.prepare(
    order === 'newest'
      ? 'SELECT seqs FROM postings WHERE part = ? AND facet = ? AND first <= ? ORDER BY first DESC LIMIT 1'
      : // The row that begins at or before the offset may still have later ones.
        `SELECT seqs FROM postings WHERE part = ?1 AND facet = ?2 AND first >= coalesce(
           (SELECT max(first) FROM postings WHERE part = ?1 AND facet = ?2 AND first <= ?3), 0)
         ORDER BY first LIMIT 2`,
  );
  return (facet) => new PostingsCursor(find, facet, order);
}

/** Walks the postings of one facet in one direction. Holds one row, and no transaction. */
export class PostingsCursor {
  readonly #facet: Facet;
  readonly #find: StatementSync;
  readonly #step: 1 | -1;
  #part = -1;
  #offsets: Uint16Array = NONE;

  constructor(find: StatementSync, facet: Facet, order: Order) {
    this.#facet = facet;
    this.#step = order === 'newest' ? -1 : 1;
    this.#find = find;
  }

  /**
   * The first seq with the facet at or beyond `from` in the cursor's direction, looking no further
   * than `until` and into at most `parts` parts of the log.
   */
  seek(from: Seq, until: Seq, parts: number): Sought {
    let at = from;
    for (let looked = 0; looked < parts; looked += 1) {
      if ((until - at) * this.#step < 0) return 'none';
      const part = partOf(at);
      const found = this.#within(part, at % PART_SIZE);
      if (found !== undefined) {
        const seq = part * PART_SIZE + found;
        return (until - seq) * this.#step < 0 ? 'none' : { seq };
      }
      at = this.#step > 0 ? (part + 1) * PART_SIZE : part * PART_SIZE - 1;
    }
    return (until - at) * this.#step < 0 ? 'none' : { nothingUntil: at, looked: parts };
  }

  #within(part: number, offset: number): number | undefined {
    const first = this.#offsets[0] ?? -1;
    const last = this.#offsets.at(-1) ?? -1;
    const held = part === this.#part && first <= offset && offset <= last;
    if (!held) this.#load(part, offset);
    return this.#step < 0 ? atOrBelow(this.#offsets, offset) : atOrAbove(this.#offsets, offset);
  }

  #load(part: number, offset: number): void {
    this.#part = part;
    for (const row of this.#find.all(part, this.#facet, offset)) {
      this.#offsets = offsetsOf(row['seqs'] as Uint8Array);
      if (this.#step < 0 || (this.#offsets.at(-1) ?? -1) >= offset) return;
    }
    this.#offsets = NONE;
  }
}

function offsetsOf(seqs: Uint8Array): Uint16Array {
  return new Uint16Array(seqs.slice().buffer);
}

/** The greatest of ascending numbers that is at most `bound`. */
export function atOrBelow(numbers: ArrayLike<number>, bound: number): number | undefined {
  return numbers[firstAbove(numbers, bound) - 1];
}

/** The least of ascending numbers that is at least `bound`. */
export function atOrAbove(numbers: ArrayLike<number>, bound: number): number | undefined {
  return numbers[firstAbove(numbers, bound - 1)];
}

/** Place of the first of ascending numbers that is greater than `bound`. */
function firstAbove(numbers: ArrayLike<number>, bound: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
