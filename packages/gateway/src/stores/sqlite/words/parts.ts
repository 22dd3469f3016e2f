/**
 * The full-text index is divided into parts: ranges of row ids, bounded in rows and in bytes. The
 * tokens of a row start with the prefix of its part. So a statement reads the postings of one part
 * alone, even for a prefix or to count matches, and takes some ten milliseconds at most, however long
 * the log is. FTS5 statements cannot be interrupted.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { FIRST_LARGE } from './fts.ts';

/** A part is closed once it has this many rows, or this many bytes of text. */
const MAX_ROWS = 16 * 1024;
const MAX_SIZE = 8 * 1024 * 1024;
const LAST_ROW = 2n ** 63n - 1n;

export const PART_TABLE = `
  CREATE TABLE parts (first INTEGER PRIMARY KEY, rows INTEGER NOT NULL, size INTEGER NOT NULL) STRICT;
`;

/** Row ids from `first` to `last`. */
export interface Part {
  readonly prefix: string;
  readonly first: bigint;
  readonly last: bigint;
  /** How many rows it has. */
  readonly rows: number;
}

/** Each kind of part has its own mark, so that both have short prefixes. */
function partPrefix(first: bigint): string {
  return first < FIRST_LARGE ? `${first.toString(36)}.` : `${(first - FIRST_LARGE).toString(36)}:`;
}

/** Reads which parts there are. */
export class PartReader {
  readonly #atOrBefore: StatementSync;
  readonly #after: StatementSync;

  constructor(db: DatabaseSync) {
    const prepare = (condition: string): StatementSync => {
      const statement = db.prepare(`SELECT first, rows FROM parts WHERE ${condition} LIMIT 1`);
      statement.setReadBigInts(true);
      return statement;
    };
    this.#atOrBefore = prepare('first <= ? ORDER BY first DESC');
    this.#after = prepare('first > ? ORDER BY first');
  }

  /** Of the tokens of a row that is there; empty if there are no parts. */
  prefixOf(rowId: bigint): string {
    return this.#descendingFrom(rowId)?.prefix ?? '';
  }

  /** The parts that overlap the range, in this order. */
  *overlapping(
    low: bigint,
    high: bigint,
    order: 'ascending' | 'descending',
  ): Generator<Part, void, undefined> {
    let part = order === 'ascending' ? this.#ascendingFrom(low) : this.#descendingFrom(high);
    while (part !== undefined && part.first <= high && part.last >= low) {
      yield part;
      const { first, last } = part;
      part =
        order === 'ascending' ? this.#ascendingFrom(last + 1n) : this.#descendingFrom(first - 1n);
    }
  }

  #ascendingFrom(rowId: bigint): Part | undefined {
    if (rowId > LAST_ROW) return undefined;
    return this.#descendingFrom(rowId) ?? this.#partOf(this.#after.get(rowId));
  }

  #descendingFrom(rowId: bigint): Part | undefined {
    return this.#partOf(this.#atOrBefore.get(rowId));
  }

  #partOf(row: Record<string, unknown> | undefined): Part | undefined {
    if (row === undefined) return undefined;
    const first = row['first'] as bigint;
    const next = this.#after.get(first)?.['first'];
    const last = typeof next === 'bigint' ? next - 1n : LAST_ROW;
    return { prefix: partPrefix(first), first, last, rows: Number(row['rows']) };
  }
}

interface OpenPart {
  readonly first: bigint;
  readonly prefix: string;
  rows: number;
  size: number;
}

/** Decides which part a new row belongs to. Rows of one kind, small or large, must be added in order. */
export class PartWriter {
  readonly #newest: StatementSync;
  readonly #set: StatementSync;
  readonly #open = new Map<boolean, OpenPart>();

  constructor(db: DatabaseSync) {
    this.#newest = db.prepare(
      'SELECT first, rows, size FROM parts WHERE first BETWEEN ? AND ? ORDER BY first DESC LIMIT 1',
    );
    this.#newest.setReadBigInts(true);
    this.#set = db.prepare('INSERT OR REPLACE INTO parts VALUES (?, ?, ?)');
    this.#set.setReadBigInts(true);
  }

  /** The prefix of the tokens of a new row, which `add` must be called for before the next. */
  prefixFor(rowId: bigint): string {
    return this.#partFor(rowId).prefix;
  }

  /** `size`: bytes of its text, without prefixes. */
  add(rowId: bigint, size: number): void {
    const part = this.#partFor(rowId);
    part.rows += 1;
    part.size += size;
  }

  /** Writes what was added. To be called before the transaction is committed. */
  flush(): void {
    for (const { first, rows, size } of this.#open.values()) this.#set.run(first, rows, size);
  }

  /** Forgets what was added since the last commit. */
  reset(): void {
    this.#open.clear();
  }

  #partFor(rowId: bigint): OpenPart {
    const isLarge = rowId >= FIRST_LARGE;
    const open = this.#open.get(isLarge) ?? this.#stored(isLarge);
    if (open !== undefined && open.rows < MAX_ROWS && open.size < MAX_SIZE) {
      this.#open.set(isLarge, open);
      return open;
    }
    if (open !== undefined) this.#set.run(open.first, open.rows, open.size);
    const part = { first: rowId, prefix: partPrefix(rowId), rows: 0, size: 0 };
    this.#open.set(isLarge, part);
    return part;
  }

  #stored(isLarge: boolean): OpenPart | undefined {
    const row = isLarge
      ? this.#newest.get(FIRST_LARGE, LAST_ROW)
      : this.#newest.get(1n, FIRST_LARGE - 1n);
    if (row === undefined) return undefined;
    const first = row['first'] as bigint;
    return {
      first,
      prefix: partPrefix(first),
      rows: Number(row['rows']),
      size: Number(row['size']),
    };
  }
}
