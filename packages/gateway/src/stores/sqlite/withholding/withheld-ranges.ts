/**
 * Which entries are withheld, as ranges of seqs: readers leave these out, and pass a range of any length in one
 * step. A range changes with the marks of its rows, in one transaction.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Order, Seq } from '../../../log/log.ts';

export const RANGES_TABLE = `CREATE TABLE IF NOT EXISTS withheld_ranges (
  first INTEGER PRIMARY KEY,
  last INTEGER NOT NULL
) STRICT`;

// Consecutive seqs have the same difference from their place in the order.
const MAKE = `BEGIN IMMEDIATE;
  DELETE FROM withheld_ranges;
  INSERT INTO withheld_ranges SELECT min(seq), max(seq) FROM (
    SELECT seq, seq - row_number() OVER (ORDER BY seq) AS island FROM withheld WHERE isErased < 4
  ) GROUP BY island;
  COMMIT`;

const ARE_NONE = `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM withheld)
  AND NOT EXISTS (SELECT 1 FROM withheld_ranges)`;

/** Makes the ranges of all that is withheld: another version or a restore may have left others. */
export function makeRanges(log: DatabaseSync): void {
  if (log.prepare(ARE_NONE).get() === undefined) log.exec(MAKE);
}

const AT = 'SELECT first, last FROM withheld_ranges WHERE first <= ? ORDER BY first DESC LIMIT 1';
const WITHIN = `SELECT first, last FROM withheld_ranges WHERE first <= ?2
  AND first >= (SELECT ifnull(max(first), 0) FROM withheld_ranges WHERE first <= ?1) AND last >= ?1`;

interface Range {
  readonly first: Seq;
  readonly last: Seq;
}

/** Adds and removes seqs, within the caller's transaction. */
export function rangeMarker(log: DatabaseSync): (seq: Seq, isWithheld: boolean) => void {
  const at = log.prepare(AT);
  const after = log.prepare('SELECT first, last FROM withheld_ranges WHERE first = ?');
  const put = log.prepare('INSERT OR REPLACE INTO withheld_ranges VALUES (?, ?)');
  const remove = log.prepare('DELETE FROM withheld_ranges WHERE first = ?');
  return (seq, isWithheld) => {
    const range = rangeIn(at.get(seq));
    const hasSeq = range !== undefined && range.last >= seq;
    if (hasSeq === isWithheld) return;
    if (hasSeq) {
      remove.run(range.first);
      if (range.first < seq) put.run(range.first, seq - 1);
      if (seq < range.last) put.run(seq + 1, range.last);
      return;
    }
    const next = rangeIn(after.get(seq + 1));
    if (next !== undefined) remove.run(next.first);
    put.run(range?.last === seq - 1 ? range.first : seq, next?.last ?? seq);
  };
}

export class WithheldRanges {
  readonly #at: StatementSync;
  readonly #within: StatementSync;

  constructor(log: DatabaseSync) {
    this.#at = log.prepare(AT);
    this.#within = log.prepare(WITHIN);
  }

  /** The first seq in this order, from this one on, that is not withheld. */
  next(seq: Seq, order: Order): Seq {
    const range = rangeIn(this.#at.get(seq));
    if (range === undefined || range.last < seq) return seq;
    return order === 'newest' ? range.first - 1 : range.last + 1;
  }

  has(seq: Seq): boolean {
    return this.next(seq, 'oldest') !== seq;
  }

  /** Those of these seqs, which are in either order, that are not withheld. */
  shown(seqs: Seq[]): Seq[] {
    const [first = 0, last = 0] = [seqs[0], seqs.at(-1)];
    const found = this.#within.all(Math.min(first, last), Math.max(first, last));
    const ranges = found.map((row) => rangeIn(row));
    if (ranges.length === 0) return seqs;
    if (first > last) ranges.reverse();
    let at = 0;
    // Both are in one order: each range is passed once.
    return seqs.filter((seq) => {
      const isPassed = (range: Range | undefined): boolean =>
        range !== undefined && (first > last ? range.first > seq : range.last < seq);
      while (isPassed(ranges[at])) at += 1;
      const range = ranges[at];
      return range === undefined || seq < range.first || seq > range.last;
    });
  }
}

function rangeIn(row: Record<string, unknown> | undefined): Range | undefined {
  return row && { first: Number(row['first']), last: Number(row['last']) };
}
