/**
 * BM25 of single terms, comparable between the parts of the full-text index. FTS5 knows the number and
 * the length of all rows, but counts only the matches in a part, whose tokens no other part has. So the
 * weight that it gives a term for its rarity is taken out, and that of the whole index is put in.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { termsIn, type Term, type TermList } from '../../../log/text-query.ts';
import { ftsPhrase } from './fts.ts';
import type { Part, PartReader } from './parts.ts';
import type { SearchSteps } from './search-turns.ts';

/** What FTS5 takes for the weight of a term that more than half of all rows have. */
const MIN_WEIGHT = 1e-6;
const LAST_ROW = 2n ** 63n - 1n;
const ALL_ROWS = { low: 0n, high: LAST_ROW } as const;
/** Of more rows that have a term, the number is estimated. */
const MAX_COUNTED = 64 * 1024;

/** A row that matches. The lower its rank, the better. */
export interface RankedRow {
  /** A bigint if the range is one of bigints. */
  readonly id: bigint | number;
  readonly rank: number;
}

export interface RowSelection {
  readonly low: bigint | number;
  readonly high: bigint | number;
  /** Rows of this rank or above are left out. */
  readonly maxRank?: number;
  /** As JSON: only these rows. */
  readonly among?: string | undefined;
}

export class TermScores {
  readonly #parts: PartReader;
  readonly #count: StatementSync;
  readonly #rows: StatementSync;
  readonly #rank: StatementSync;
  readonly #rankAmong: StatementSync;

  constructor(words: DatabaseSync, parts: PartReader) {
    this.#parts = parts;
    this.#count = words.prepare(
      'SELECT count(*) AS count FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?',
    );
    this.#rows = words.prepare("SELECT value FROM meta WHERE name = 'rows'");
    const rank = (condition: string): StatementSync =>
      words.prepare(
        `SELECT rowid AS id, bm25(texts) AS rank FROM texts
         WHERE texts MATCH ? AND rowid BETWEEN ? AND ? AND ${condition} ORDER BY rowid DESC`,
      );
    this.#rank = rank('bm25(texts) < ?');
    this.#rankAmong = rank(
      'CASE WHEN rowid IN (SELECT value FROM json_each(?)) THEN bm25(texts) < ? END',
    );
  }

  /** The weight of each term for its rarity in the whole index. */
  *weights(terms: TermList): SearchSteps<Float64Array> {
    const weights = new Float64Array(terms.count);
    // The order of the results does not depend on the weight of a single term.
    if (terms.count === 1) return weights.fill(1);
    let at = 0;
    for (const term of termsIn(terms)) {
      weights[at] = this.#weightOf(yield* this.#countOf(term));
      at += 1;
    }
    return weights;
  }

  /** How many rows have the term; if these are very many, an estimate by the oldest ones. */
  *#countOf(term: Term): SearchSteps<number> {
    let count = 0;
    let rows = 0;
    for (const part of this.#parts.overlapping(ALL_ROWS.low, ALL_ROWS.high, 'ascending')) {
      if (count >= MAX_COUNTED) return Math.round((count * this.#rowCount()) / rows);
      count += this.count(ftsPhrase(term, part.prefix));
      rows += part.rows;
      yield;
    }
    return count;
  }

  /** The weight that FTS5 gives the term in a part; undefined if no row there has it. */
  weightIn(part: Part, term: Term): number | undefined {
    const count = this.count(ftsPhrase(term, part.prefix));
    return count === 0 ? undefined : this.#weightOf(count);
  }

  /** The rows that match the query, the greatest row id first, with the rank that FTS5 gives them. */
  rows(query: string, { low, high, maxRank = Infinity, among }: RowSelection): RankedRow[] {
    const statement = among === undefined ? this.#rank : this.#rankAmong;
    statement.setReadBigInts(typeof low === 'bigint');
    const rows =
      among === undefined
        ? statement.all(query, low, high, maxRank)
        : statement.all(query, low, high, among, maxRank);
    return rows as unknown as RankedRow[];
  }

  /** How many rows match the query. */
  count(query: string, { low, high }: RowSelection = ALL_ROWS): number {
    return this.#count.get(query, low, high)?.['count'] as number;
  }

  #rowCount(): number {
    return Number(this.#rows.get()?.['value'] ?? 0);
  }

  #weightOf(count: number): number {
    const weight = Math.log((this.#rowCount() - count + 0.5) / (count + 0.5));
    return weight <= 0 ? MIN_WEIGHT : weight;
  }
}

/** 2^8 + 1. */
const SPLITTER = 257;

/**
 * Rounded to 45 of 53 bits (Veltkamp's method), so that rows of different parts that score the same
 * have the same rank.
 */
export function rounded(rank: number): number {
  const scaled = rank * SPLITTER;
  return scaled - (scaled - rank);
}
