/**
 * The inverted index: a posting list for each facet.
 *
 * The log is divided into parts of 65,536 seqs, and the postings of a part are stored together. So
 * the cost of indexing does not depend on the length of the log, and a seq takes two bytes.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { type Kind, KINDS } from '@open-presence/protocol';

import { type Facet, facet, FACET_SIZE } from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';

export const PART_SIZE = 65_536;
/** Maximum number of seqs in a row: a page or two of the database. */
const ROW_SEQS = 2048;
/** Bytes per seq. */
const WIDTH = 2;
const NONE = new Uint16Array(0);

/** The facet at a position of concatenated facets, as the key of a map. */
export function facetKey(facets: Buffer, at: number): string {
  return facets.toString('latin1', at, at + FACET_SIZE);
}

export const KIND_BY_FACET_KEY: ReadonlyMap<string, Kind> = new Map(
  KINDS.map((kind) => [facetKey(Buffer.from(facet('kind', kind)), 0), kind]),
);

export function partOf(seq: Seq): number {
  return Math.floor(seq / PART_SIZE);
}

/** Adds postings, inside the indexer's transaction. */
export class PostingsWriter {
  readonly #last: StatementSync;
  readonly #put: StatementSync;
  /** Reused for each row: millions of small arrays would burden the garbage collector. */
  readonly #bytes = Buffer.allocUnsafeSlow(ROW_SEQS * WIDTH);

  constructor(db: DatabaseSync) {
    this.#last = db.prepare(
      'SELECT seqs FROM postings WHERE part = ? AND facet = ? ORDER BY first DESC LIMIT 1',
    );
    this.#put = db.prepare('INSERT OR REPLACE INTO postings VALUES (?, ?, ?, ?)');
  }

  /** `seqs`: ascending, of one part, all newer than the seqs that the facet has. */
  add(part: number, facet: Facet, seqs: readonly Seq[]): void {
    const last = this.#last.get(part, facet)?.['seqs'] as Uint8Array | undefined;
    let count = 0;
    if (last !== undefined && last.length < ROW_SEQS * WIDTH) {
      this.#bytes.set(last);
      count = last.length / WIDTH;
    }
    for (const seq of seqs) {
      if (count === ROW_SEQS) {
        this.#write(part, facet, count);
        count = 0;
      }
      this.#bytes.writeUInt16LE(seq % PART_SIZE, count * WIDTH);
      count += 1;
    }
    this.#write(part, facet, count);
  }

  #write(part: number, facet: Facet, count: number): void {
    const first = this.#bytes.readUInt16LE(0);
    this.#put.run(part, facet, first, this.#bytes.subarray(0, count * WIDTH));
  }
}

/** The result of a seek: a seq, or how far it has looked without finding one. */
export type SeekResult =
  | { readonly seq: Seq }
  /** `parts`: how many were looked into. */
  | { readonly nothingUntil: Seq; readonly parts: number }
  | 'none';

/** Makes cursors of one direction. They share a statement, since there may be a million of them. */
export function postingsCursors(db: DatabaseSync, order: Order): (facet: Facet) => PostingsCursor {
  const find = db.prepare(
    order === 'newest'
      ? 'SELECT seqs FROM postings WHERE part = ? AND facet = ? AND first <= ? ORDER BY first DESC LIMIT 1'
      : // The row that starts at or before the offset may have seqs behind it.
        `SELECT seqs FROM postings WHERE part = ?1 AND facet = ?2 AND first >= coalesce(
           (SELECT max(first) FROM postings WHERE part = ?1 AND facet = ?2 AND first <= ?3), 0)
         ORDER BY first LIMIT 2`,
  );
  return (facet) => new PostingsCursor(find, facet, order);
}

/** Walks the posting list of one facet in one direction. Holds one row, and no transaction. */
export class PostingsCursor {
  readonly facet: Facet;
  readonly #find: StatementSync;
  readonly #step: 1 | -1;
  #part = -1;
  #offsets: Uint16Array = NONE;

  constructor(find: StatementSync, facet: Facet, order: Order) {
    this.facet = facet;
    this.#step = order === 'newest' ? -1 : 1;
    this.#find = find;
  }

  /**
   * The first seq with the facet at or beyond `from` in the cursor's direction, but not beyond
   * `until`. Looks into at most `maxParts` parts of the log.
   */
  seek(from: Seq, until: Seq, maxParts: number): SeekResult {
    let at = from;
    for (let parts = 0; parts < maxParts; parts += 1) {
      if ((until - at) * this.#step < 0) return 'none';
      const part = partOf(at);
      const found = this.#seekInPart(part, at % PART_SIZE);
      if (found !== undefined) {
        const seq = part * PART_SIZE + found;
        return (until - seq) * this.#step < 0 ? 'none' : { seq };
      }
      at = this.#step > 0 ? (part + 1) * PART_SIZE : part * PART_SIZE - 1;
    }
    return (until - at) * this.#step < 0 ? 'none' : { nothingUntil: at, parts: maxParts };
  }

  #seekInPart(part: number, offset: number): number | undefined {
    const first = this.#offsets[0] ?? -1;
    const last = this.#offsets.at(-1) ?? -1;
    const isLoaded = part === this.#part && first <= offset && offset <= last;
    if (!isLoaded) this.#load(part, offset);
    return this.#step < 0 ? atOrBelow(this.#offsets, offset) : atOrAbove(this.#offsets, offset);
  }

  #load(part: number, offset: number): void {
    this.#part = part;
    for (const row of this.#find.all(part, this.facet, offset)) {
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

/** Index of the first of ascending numbers that is greater than `bound`. */
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
