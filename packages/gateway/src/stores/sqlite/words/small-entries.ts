/** Matches small entries: each is one row of the full-text index, whose id is its seq. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Order, Seq } from '../../../log/log.ts';
import type { TextQuery } from '../../../log/text-query.ts';
import type { SeqPage, SeqRange } from '../seq-source.ts';
import { batchesOf, FIRST_LARGE, ftsQuery, joinTerms } from './fts.ts';
import type { PageQuery } from './messages.ts';
import type { Part, PartReader } from './parts.ts';
import type { SearchSteps } from './search-turns.ts';

const ALL = Number.MAX_SAFE_INTEGER;

export interface SeqsInPart extends SeqRange {
  readonly order: Order;
  readonly limit: number;
}

/** A part, and the seqs to look at in it. */
export interface SmallPart extends Part {
  readonly range: SeqRange;
}

export class SmallEntries {
  readonly #parts: PartReader;
  readonly #ascending: StatementSync;
  readonly #descending: StatementSync;

  constructor(words: DatabaseSync, parts: PartReader) {
    this.#parts = parts;
    const prepare = (order: 'ASC' | 'DESC'): StatementSync =>
      words.prepare(
        `SELECT rowid AS seq FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?
         ORDER BY rowid ${order} LIMIT ?`,
      );
    this.#ascending = prepare('ASC');
    this.#descending = prepare('DESC');
  }

  /** Each part with small entries in the range, and the range within it. */
  *partsIn({ low, high }: SeqRange, order: Order): Generator<SmallPart, void, undefined> {
    const direction = order === 'newest' ? 'descending' : 'ascending';
    for (const part of this.#parts.overlapping(BigInt(low), BigInt(high), direction)) {
      const last = part.last < FIRST_LARGE ? Number(part.last) : high;
      yield {
        ...part,
        range: { low: Math.max(low, Number(part.first)), high: Math.min(high, last) },
      };
    }
  }

  /** Ignores facets. */
  *page({ textQuery, order, low, high, limit }: PageQuery): SearchSteps<SeqPage> {
    if (low > high) return { seqs: [], next: undefined };
    const seqs: Seq[] = [];
    for (const part of this.partsIn({ low, high }, order)) {
      yield;
      const range = { ...part.range, order, limit: limit - seqs.length };
      seqs.push(...(yield* this.matches(part, textQuery, range)));
      const last = seqs.at(-1);
      if (seqs.length >= limit && last !== undefined) {
        return { seqs, next: order === 'newest' ? last - 1 : last + 1 };
      }
    }
    return { seqs, next: undefined };
  }

  /** The seqs that match in a part. Takes as many statements as the query is long. */
  *matches({ prefix }: Part, { all, none }: TextQuery, wanted: SeqsInPart): SearchSteps<Seq[]> {
    const required = batchesOf(all);
    const excluded = batchesOf(none);
    const first = required.next().value ?? [];
    const without = excluded.next().value ?? [];
    const isWhole = first.length === all.count && without.length === none.count;
    const query = ftsQuery(first, without, prefix);
    let seqs = this.#seqs(query, isWhole ? wanted : { ...wanted, limit: ALL });
    for (const terms of required) {
      if (seqs.length === 0) return [];
      yield;
      const found = this.#among(seqs, joinTerms(terms, 'AND', prefix));
      seqs = seqs.filter((seq) => found.has(seq));
    }
    for (const terms of excluded) {
      if (seqs.length === 0) return [];
      yield;
      const found = this.#among(seqs, joinTerms(terms, 'OR', prefix));
      seqs = seqs.filter((seq) => !found.has(seq));
    }
    return seqs.slice(0, wanted.limit);
  }

  #among(seqs: readonly Seq[], query: string): ReadonlySet<Seq> {
    const [one = 0, other = 0] = [seqs[0], seqs.at(-1)];
    const range = { low: Math.min(one, other), high: Math.max(one, other) };
    return new Set(this.#seqs(query, { ...range, order: 'oldest', limit: ALL }));
  }

  #seqs(query: string, { low, high, order, limit }: SeqsInPart): Seq[] {
    const statement = order === 'newest' ? this.#descending : this.#ascending;
    return statement.all(query, low, high, limit).map((row) => row['seq'] as Seq);
  }
}

/** Whether each row that matches the first term means that its entry matches. */
export function isOneTerm({ all, none }: TextQuery): boolean {
  return all.count === 1 && none.count === 0;
}
