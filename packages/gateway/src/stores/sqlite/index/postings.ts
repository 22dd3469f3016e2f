/**
 * The inverted index: a posting list for each facet.
 *
 * The log is divided into parts of 65,536 seqs, and the postings of a part are stored together. So
 * the cost of indexing does not depend on the length of the log, and a seq takes two bytes.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

import { type Kind, KINDS } from '@open-presence/protocol';

import { type Facet, facet, FACET_SIZE } from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';
import { StorageFault } from '../../../storage-fault.ts';
import type { IndexSource } from './index-connection.ts';

/** The index is not what was written, and has to be made again. */
export class SpoiledIndex extends StorageFault {}

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

/** The checksum of a row of postings. */
function postingsSum(part: number, facet: Facet, first: number, seqs: Uint8Array): number {
  return crc32(seqs, crc32(facet, (part * PART_SIZE + first) >>> 0));
}

/** Columns of a row of postings. */
interface PostingsRow {
  readonly first: number;
  readonly seqs: Uint8Array;
  readonly sum: number;
}

const TOTAL = 'SELECT sums FROM parts WHERE part = ?';

/** Adds postings, inside the indexer's transaction, and keeps the totals of the parts. */
export class PostingsWriter {
  readonly #last: StatementSync;
  readonly #put: StatementSync;
  readonly #with: StatementSync;
  readonly #delete: StatementSync;
  readonly #total: StatementSync;
  readonly #putTotal: StatementSync;
  /** Reused for each row: millions of small arrays would burden the garbage collector. */
  readonly #bytes = Buffer.allocUnsafeSlow(ROW_SEQS * WIDTH);
  /** The part that is being written, and the sums of its rows combined. */
  #part = -1;
  #sums = 0;

  constructor(db: DatabaseSync) {
    this.#last = db.prepare(
      'SELECT first, seqs, sum FROM postings WHERE part = ? AND facet = ? ORDER BY first DESC LIMIT 1',
    );
    this.#put = db.prepare('INSERT OR REPLACE INTO postings VALUES (?, ?, ?, ?, ?)');
    this.#with = db.prepare(FIND.newest);
    this.#delete = db.prepare('DELETE FROM postings WHERE part = ? AND facet = ? AND first = ?');
    this.#total = db.prepare(TOTAL);
    this.#putTotal = db.prepare('INSERT OR REPLACE INTO parts VALUES (?, ?)');
  }

  /** `seqs`: ascending, of one part, all newer than the seqs that the facet has. */
  add(part: number, facet: Facet, seqs: readonly Seq[]): void {
    this.#start(part);
    const last = this.#last.get(part, facet) as PostingsRow | undefined;
    let count = 0;
    if (last !== undefined && last.seqs.length < ROW_SEQS * WIDTH) {
      if (postingsSum(part, facet, last.first, last.seqs) !== last.sum)
        throw new SpoiledIndex('A row of postings has changed.');
      this.#sums ^= last.sum;
      this.#bytes.set(last.seqs);
      count = last.seqs.length / WIDTH;
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

  /**
   * Removes a seq, if the facet has it. Not to be used for facets that are counted: rows before the last
   * one are not full then.
   */
  remove(seq: Seq, facet: Facet): void {
    const part = partOf(seq);
    const offset = seq % PART_SIZE;
    const row = this.#with.get(part, facet, offset) as PostingsRow | undefined;
    if (row === undefined) return;
    if (postingsSum(part, facet, row.first, row.seqs) !== row.sum)
      throw new SpoiledIndex('A row of postings has changed.');
    const left = offsetsOf(row.seqs).filter((other) => other !== offset);
    if (left.length * WIDTH === row.seqs.length) return;
    this.#start(part);
    this.#sums ^= row.sum;
    this.#delete.run(part, facet, row.first);
    for (const [at, other] of left.entries()) this.#bytes.writeUInt16LE(other, at * WIDTH);
    if (left.length > 0) this.#write(part, facet, left.length);
  }

  /** Must be called before the commit. */
  flush(): void {
    if (this.#part >= 0) this.#putTotal.run(this.#part, this.#sums);
    this.#part = -1;
  }

  /** Must be called where the transaction is rolled back. */
  reset(): void {
    this.#part = -1;
  }

  #start(part: number): void {
    if (part === this.#part) return;
    this.flush();
    this.#part = part;
    this.#sums = (this.#total.get(part)?.['sums'] as number | undefined) ?? 0;
  }

  #write(part: number, facet: Facet, count: number): void {
    const first = this.#bytes.readUInt16LE(0);
    const seqs = this.#bytes.subarray(0, count * WIDTH);
    const sum = postingsSum(part, facet, first, seqs);
    this.#sums ^= sum;
    this.#put.run(part, facet, first, seqs, sum);
  }
}

/** Whether a part has all rows that were written, as they were written. */
export function partHolds(db: DatabaseSync, part: number): boolean {
  const rows = db.prepare('SELECT facet, first, seqs, sum FROM postings WHERE part = ?');
  const total = (db.prepare(TOTAL).get(part)?.['sums'] as number | undefined) ?? 0;
  let sums = 0;
  for (const row of rows.iterate(part)) {
    const { facet, first, seqs, sum } = row as unknown as PostingsRow & { readonly facet: Facet };
    if (postingsSum(part, facet, first, seqs) !== sum) return false;
    sums ^= sum;
  }
  return sums === total;
}

/** The result of a seek: a seq, or how far it has looked without finding one. */
export type SeekResult =
  | { readonly seq: Seq }
  /** `parts`: how many were looked into. */
  | { readonly nothingUntil: Seq; readonly parts: number }
  | 'none';

/** Columns of the rows that may have the first seq at or beyond an offset. */
const FIND = {
  newest:
    'SELECT first, seqs, sum FROM postings WHERE part = ? AND facet = ? AND first <= ? ORDER BY first DESC LIMIT 1',
  // The row that starts at or before the offset may have seqs behind it.
  oldest: `SELECT first, seqs, sum FROM postings WHERE part = ?1 AND facet = ?2 AND first >= coalesce(
    (SELECT max(first) FROM postings WHERE part = ?1 AND facet = ?2 AND first <= ?3), 0)
    ORDER BY first LIMIT 2`,
} as const;

export interface PostingsPlace {
  readonly part: number;
  readonly facet: Facet;
  readonly offset: number;
}

/** The row that may have the first seq at or beyond the offset; empty if there is none. Throws `SpoiledIndex`. */
function readOffsets(
  index: IndexSource,
  order: Order,
  { part, facet, offset }: PostingsPlace,
): Uint16Array {
  const offsets = index.read(FIND[order], (find) => {
    let found: Uint16Array = NONE;
    for (const row of find.all(part, facet, offset) as unknown as PostingsRow[]) {
      if (postingsSum(part, facet, row.first, row.seqs) !== row.sum) return undefined;
      found = offsetsOf(row.seqs);
      if (order === 'newest' || (found.at(-1) ?? -1) >= offset) return found;
    }
    return NONE;
  });
  if (offsets === undefined) throw new SpoiledIndex('The index cannot be read.');
  return offsets;
}

/** Walks the posting list of one facet in one direction. Holds one row, and no transaction. */
export class PostingsCursor {
  readonly #facet: Facet;
  readonly #index: IndexSource;
  readonly #order: Order;
  readonly #step: 1 | -1;
  #part = -1;
  #offsets: Uint16Array = NONE;

  constructor(index: IndexSource, facet: Facet, order: Order) {
    this.#facet = facet;
    this.#index = index;
    this.#order = order;
    this.#step = order === 'newest' ? -1 : 1;
  }

  /**
   * The first seq with the facet at or beyond `from` in the cursor's direction, but not beyond
   * `until`. Looks into at most `maxParts` parts of the log. Throws `SpoiledIndex`.
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
    const offsets = readOffsets(this.#index, this.#order, { part, facet: this.#facet, offset });
    this.#part = part;
    this.#offsets = offsets;
  }
}

/** Columns of the last row that starts before an offset, and the number of such rows. */
const COUNT = `SELECT first, seqs, sum,
    (SELECT count(*) FROM postings WHERE part = ?1 AND facet = ?2 AND first < ?3) AS rows
  FROM postings WHERE part = ?1 AND facet = ?2 AND first < ?3 ORDER BY first DESC LIMIT 1`;

/**
 * How many seqs of a part have the facet and an offset less than this. Reads one row, since all rows
 * before the last one of a facet in a part are full. Throws `SpoiledIndex`.
 */
export function countPostings(index: IndexSource, { part, facet, offset }: PostingsPlace): number {
  const count = index.read(COUNT, (statement) => {
    const row = statement.get(part, facet, offset) as
      | (PostingsRow & { readonly rows: number })
      | undefined;
    if (row === undefined) return 0;
    if (postingsSum(part, facet, row.first, row.seqs) !== row.sum) return undefined;
    return (row.rows - 1) * ROW_SEQS + firstAbove(offsetsOf(row.seqs), offset - 1);
  });
  if (count === undefined) throw new SpoiledIndex('The index cannot be read.');
  return count;
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
export function firstAbove(numbers: ArrayLike<number>, bound: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
