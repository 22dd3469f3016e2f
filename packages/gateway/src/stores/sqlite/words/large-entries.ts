/**
 * Matches large entries. Their words are spread over several rows, so FTS5 can match a term, but not
 * a query of several: each term is looked up on its own.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Order, Seq } from '../../../log/log.ts';
import { termsIn, type Term, type TermList, type TextQuery } from '../../../log/text-query.ts';
import type { SeqPage, SeqRange } from '../seq-source.ts';
import { ftsPhrase, largeRowId, lastLargeRowId, seqOfLargeRow } from './fts.ts';
import type { PageQuery } from './messages.ts';
import type { Part, PartReader } from './parts.ts';
import type { SearchSteps } from './search-turns.ts';
import { isOneTerm } from './small-entries.ts';

export interface RowRange {
  readonly low: bigint;
  readonly high: bigint;
}

export class LargeEntries {
  readonly #parts: PartReader;
  readonly #rows: StatementSync;

  constructor(words: DatabaseSync, parts: PartReader) {
    this.#parts = parts;
    this.#rows = words.prepare(
      'SELECT rowid FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?',
    );
    this.#rows.setReadBigInts(true);
  }

  /** Each part with rows of large entries in the range, and the range within it. */
  *partsIn(
    { low, high }: SeqRange,
    order: Order,
  ): Generator<Part & { readonly range: RowRange }, void, undefined> {
    const direction = order === 'newest' ? 'descending' : 'ascending';
    const [from, to] = [largeRowId(low, 0), lastLargeRowId(high)];
    for (const part of this.#parts.overlapping(from, to, direction)) {
      const range = {
        low: part.first > from ? part.first : from,
        high: part.last < to ? part.last : to,
      };
      yield { ...part, range };
    }
  }

  /** Ignores facets. */
  *page({ textQuery, order, low, high, limit }: PageQuery): SearchSteps<SeqPage> {
    const seqs: Seq[] = [];
    const first = termsIn(textQuery.all).next().value ?? undefined;
    if (first === undefined || low > high) return { seqs, next: undefined };
    let looked: Seq | undefined;
    for (const part of this.partsIn({ low, high }, order)) {
      yield;
      const candidates = this.#seqsIn(part, first);
      for (const seq of order === 'newest' ? candidates.toReversed() : candidates) {
        // An entry may have rows in several parts.
        if (seq === looked) continue;
        looked = seq;
        if (seqs.length >= limit) return { seqs, next: seq };
        if (isOneTerm(textQuery) || (yield* this.#matches(seq, textQuery))) seqs.push(seq);
      }
    }
    return { seqs, next: undefined };
  }

  #seqsIn({ prefix, range }: Part & { readonly range: RowRange }, term: Term): Seq[] {
    const rows = this.#rows.all(ftsPhrase(term, prefix), range.low, range.high, -1);
    return [...new Set(rows.map((row) => seqOfLargeRow(row['rowid'] as unknown as bigint)))];
  }

  *#matches(seq: Seq, { all, none }: TextQuery): SearchSteps<boolean> {
    for (const term of termsIn(all)) if (!(yield* this.#hasTerm(seq, term))) return false;
    return !(yield* this.#hasAny(seq, none));
  }

  *#hasAny(seq: Seq, terms: TermList): SearchSteps<boolean> {
    for (const term of termsIn(terms)) if (yield* this.#hasTerm(seq, term)) return true;
    return false;
  }

  *#hasTerm(seq: Seq, term: Term): SearchSteps<boolean> {
    for (const { prefix, range } of this.partsIn({ low: seq, high: seq }, 'oldest')) {
      yield;
      if (this.#rows.get(ftsPhrase(term, prefix), range.low, range.high, 1) !== undefined)
        return true;
    }
    return false;
  }
}
