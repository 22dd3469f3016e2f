/**
 * Entries that the index finds, in the order of the log. All work is steps of bounded length, between which others
 * have their turn and a search can be ended.
 *
 * Invariant: Search finds entries by their words, in any script, and by nothing else.
 * Test: `test/log-contract/searching.ts` “finds what was said in any script, the best first” “looks
 *   into large entries from end to end”
 * Test: `packages/gateway/src/store/index/words.test.ts` “are found as a plain list finds
 *   them, in the same order” “of very many entries are ranked in sections: each result once,
 *   whatever was skipped”
 */
import type { Seq } from '../../log/log.ts';
import type { PageOf, SeqPage, SeqRange } from '../seq-source.ts';
import type { SharedState } from '../shared-state.ts';
import type { WithheldSeqs } from '../withholding/withheld-seqs.ts';
import { type IndexReader, tableOf } from './index-database.ts';
import { IN_ALL_ROWS, IN_ROWS, MatchQuery } from './match-query.ts';
import type { PageRequest } from './search-calls.ts';
import type { SearchSteps } from './search-steps.ts';

/** The least number of seqs to look for, if some are dropped afterwards. */
const MIN_CANDIDATES = 512;

/** Seqs that are looked up in the same place. */
export interface Place extends SeqRange {
  /** The part that has them; undefined if they are not indexed yet. */
  readonly part: number | undefined;
}

export function placeOf(seq: Seq, shared: SharedState): Place {
  const { indexed } = shared;
  if (seq > indexed) return { part: undefined, low: indexed + 1, high: Infinity };
  const part = shared.partOf(seq);
  return { part, low: shared.firstOf(part), high: Math.min(indexed, shared.lastOf(part)) };
}

/** Up to `limit` seqs in their order, from one place to the next. `find` looks into one of them. */
export function* pageAcross(
  shared: SharedState,
  { order, low, high, limit }: PageOf,
  find: (wanted: PageOf, part: number | undefined) => SearchSteps<SeqPage>,
): SearchSteps<SeqPage> {
  const isNewest = order === 'newest';
  const seqs: Seq[] = [];
  let at = isNewest ? high : low;
  while (at >= low && at <= high && seqs.length < limit) {
    const place = placeOf(at, shared);
    const range = isNewest
      ? { low: Math.max(low, place.low), high: at }
      : { low: at, high: Math.min(high, place.high) };
    const page = yield* find({ ...range, order, limit: limit - seqs.length }, place.part);
    seqs.push(...page.seqs);
    at = page.next ?? (isNewest ? range.low - 1 : range.high + 1);
  }
  return { seqs, next: at >= low && at <= high ? at : undefined };
}

export interface SearchContext {
  readonly index: IndexReader;
  readonly shared: SharedState;
  readonly withheld: WithheldSeqs;
  /** For tests: see `ranked.ts`. */
  readonly maxRanked?: number;
}

/** Up to `limit` matches of a text query, among entries that are indexed. */
export function pageOfMatches(
  { index, shared }: SearchContext,
  wanted: PageRequest,
): SearchSteps<SeqPage> {
  const query = new MatchQuery(wanted);
  return pageAcross(shared, wanted, (some, part = shared.partOf(some.low)) =>
    new Matches(index, query, { part, all: wanted.all }).page(some),
  );
}

/** The matches of a query in one part. */
export class Matches {
  readonly #index: IndexReader;
  readonly #query: MatchQuery;
  readonly #all: string;

  /** `all`: with what is withheld or hidden. */
  constructor(
    index: IndexReader,
    query: MatchQuery,
    { part, all = false }: { readonly part: number; readonly all?: boolean | undefined },
  ) {
    this.#index = index;
    this.#query = query;
    const table = tableOf(part);
    const rows = all ? IN_ALL_ROWS : IN_ROWS;
    this.#all = `SELECT rowid AS id FROM ${table} WHERE ${table} MATCH ? AND ${rows}`;
  }

  /** Up to `limit` seqs in order. May return fewer, even none, although more follow. */
  *page({ order, low, high, limit }: PageOf): SearchSteps<SeqPage> {
    const step = order === 'newest' ? -1 : 1;
    const sql = `${this.#all} ORDER BY rowid ${order === 'newest' ? 'DESC' : ''} LIMIT ?`;
    const { first, rest, common } = this.#query;
    // Alternatives may be many statements.
    const mayMatch =
      common === undefined || (yield* this.#ids(sql, common, low, high, 1)).length > 0;
    if (!mayMatch) return { seqs: [], next: undefined };
    const most = rest.length === 0 ? limit : Math.max(limit, MIN_CANDIDATES);
    const found = new Set<Seq>();
    for (const query of first())
      for (const seq of yield* this.#ids(sql, query, low, high, most)) found.add(seq);
    const candidates = [...found].toSorted((a, b) => (a - b) * step).slice(0, most);
    const last = candidates.at(-1);
    const next = candidates.length < most || last === undefined ? undefined : last + step;
    const seqs = yield* this.#filter(candidates);
    if (seqs.length <= limit) return { seqs, next };
    return { seqs: seqs.slice(0, limit), next: (seqs[limit - 1] ?? 0) + step };
  }

  /** The seqs among these, which are sorted, for which the rest of the query holds. */
  *#filter(seqs: Seq[]): SearchSteps<Seq[]> {
    let left = seqs;
    for (const { queries, isExcluded } of this.#query.rest) {
      const ends = [left[0] ?? 0, left.at(-1) ?? 0];
      const [low, high] = [Math.min(...ends), Math.max(...ends)];
      const found = new Set<Seq>();
      for (const query of left.length === 0 ? [] : queries())
        for (const seq of yield* this.#ids(this.#all, query, low, high)) found.add(seq);
      left = left.filter((seq) => found.has(seq) !== isExcluded);
    }
    return left;
  }

  *#ids(sql: string, ...parameters: (string | number)[]): SearchSteps<readonly Seq[]> {
    yield;
    const rows = this.#index.statement(sql).all(...parameters);
    return rows.map(({ id }) => id as Seq);
  }
}
