import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import type { TextQuery, Term } from '../../../log/text-query.ts';
import type { SeqPage } from '../seq-source.ts';
import { ftsPhrase, largeRowId, lastLargeRowId, seqOfLargeRow } from './fts.ts';
import type { PageQuery } from './messages.ts';

/** Candidates that are looked at for one page. */
const MAX_CANDIDATES = 256;

/**
 * Matches large entries. Their words are spread over several rows, so FTS5 can match a term, but not
 * a query of several: each term is looked up on its own.
 */
export class LargeEntries {
  readonly #first: StatementSync;
  readonly #last: StatementSync;

  constructor(words: DatabaseSync) {
    const prepare = (order: 'ASC' | 'DESC'): StatementSync => {
      const statement = words.prepare(
        `SELECT rowid FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?
         ORDER BY rowid ${order} LIMIT 1`,
      );
      statement.setReadBigInts(true);
      return statement;
    };
    this.#first = prepare('ASC');
    this.#last = prepare('DESC');
  }

  /** Ignores facets. */
  page({ textQuery, order, low, high, limit }: PageQuery): SeqPage {
    const newest = order === 'newest';
    const statement = newest ? this.#last : this.#first;
    const [first] = textQuery.all;
    if (first === undefined) return { seqs: [], next: undefined };
    const phrase = ftsPhrase(first);
    const seqs: Seq[] = [];
    let from = largeRowId(low, 0);
    let to = lastLargeRowId(high);
    for (let candidates = 0; ; candidates += 1) {
      const rowId = statement.get(phrase, from, to)?.['rowid'];
      if (typeof rowId !== 'bigint') return { seqs, next: undefined };
      const seq = seqOfLargeRow(rowId);
      if (candidates >= MAX_CANDIDATES || seqs.length >= limit) return { seqs, next: seq };
      if (isOneTerm(textQuery) || this.matches(seq, textQuery)) seqs.push(seq);
      if (newest) to = largeRowId(seq, 0) - 1n;
      else from = lastLargeRowId(seq) + 1n;
    }
  }

  matches(seq: Seq, { all, none }: TextQuery): boolean {
    const hasTerm = (term: Term): boolean =>
      this.#first.get(ftsPhrase(term), largeRowId(seq, 0), lastLargeRowId(seq)) !== undefined;
    return all.every(hasTerm) && !none.some(hasTerm);
  }
}

/** Whether each row that matches the first term means that its entry matches. */
export function isOneTerm({ all, none }: TextQuery): boolean {
  return all.length === 1 && none.length === 0;
}
