/**
 * Ranks the matches of a query by FTS5's BM25, in each part by its own numbers: all of them together or, where
 * very many match, those of a section. A section is the newest parts of the range that have enough matches. It
 * depends on the query and on what was stored before the end of the range, not on later entries. Its matches are
 * ranked once, so each comes once, whatever is appended meanwhile.
 */
import type { Seq } from '../../log/log.ts';
import type { SeqRange } from '../seq-source.ts';
import type { WithheldSeqs } from '../withholding/withheld-seqs.ts';
import { tableOf } from './index-database.ts';
import { IN_ROWS, MatchQuery } from './match-query.ts';
import { pageOfMatches, type SearchContext } from './matches.ts';
import type { RankedPage, RankedRequest } from './search-calls.ts';
import type { SearchSteps } from './search-steps.ts';

/** A section ends at the part that brings its matches to this number, times the terms of the query. */
const MAX_RANKED = 2 ** 18;
/** Matches that are ranked together: some dozen milliseconds. */
const STEP = 65_536;
const MAX_PAGE = 1024;
/** For more, SQLite hands over all matches: sorting costs less than keeping them sorted. */
const MAX_BEST = 16 * 1024;

/** Ranked matches, the best first. The lower a rank, the better. */
interface Run {
  readonly ranks: Float64Array;
  readonly seqs: Float64Array;
  /** How many were taken. */
  taken: number;
}

interface Section {
  readonly low: Seq;
  readonly runs: readonly Run[];
  /** How many matches it has. The runs have as many of them as are wanted. */
  readonly count: number;
}

/** Yields pages beside its steps. No results follow the last one. */
export type RankedPages = Generator<Promise<void> | void | RankedPage, void, void>;

export function* rankedPages(context: SearchContext, query: RankedRequest): RankedPages {
  let { skip, limit: left, high } = query;
  for (;;) {
    // The first match also says whether there are any.
    const wanted = Math.max(1, skip + left);
    const { low, runs, count } = yield* rankSection(context, { ...query, high }, wanted);
    const hasOlder = low > query.low;
    let given = Math.min(skip, count);
    skip -= given;
    for (let at = 0; at < given; at += 1) takeBest(runs);
    for (let isLast = false; !isLast;) {
      const length = Math.min(left, MAX_PAGE, count - given);
      const seqs = Array.from({ length }, () => takeBest(runs));
      isLast = given + length === count;
      left -= length;
      const isFull = left === 0 && length > 0;
      const isEnd =
        isLast && (!hasOlder || (isFull && !(yield* hasMatch(context, query, low - 1))));
      if (length > 0 || isEnd || !isLast)
        yield { seqs, more: !isEnd, section: { low, high }, skipped: given, isLast };
      if (isEnd || (left === 0 && (length > 0 || !isLast))) return;
      given += length;
    }
    high = low - 1;
  }
}

/** The steps up to the next page. There must be one. */
export function* nextPage(pages: RankedPages): SearchSteps<RankedPage> {
  for (;;) {
    const { value, done } = pages.next();
    if (done === true) throw new Error('There are no more results.');
    if (value !== undefined && 'seqs' in value) return value;
    yield value;
  }
}

function* hasMatch(context: SearchContext, query: RankedRequest, high: Seq): SearchSteps<boolean> {
  const wanted = { ...query, high, order: 'newest', limit: 1 } as const;
  return (yield* pageOfMatches(context, wanted)).seqs.length > 0;
}

/** The best match that was not taken; of equals the newest. */
function takeBest(runs: readonly Run[]): Seq {
  let best: Run | undefined;
  for (const run of runs) if (best === undefined || isBetter(run, best)) best = run;
  if (best === undefined) throw new Error('There are no more matches.');
  const seq = best.seqs[best.taken] ?? 0;
  best.taken += 1;
  return seq;
}

function isBetter(one: Run, other: Run): boolean {
  const [rank = Infinity, than = Infinity] = [one.ranks[one.taken], other.ranks[other.taken]];
  return (
    rank < than || (rank === than && (one.seqs[one.taken] ?? 0) > (other.seqs[other.taken] ?? 0))
  );
}

/** Ranks the matches of the newest section, the best `wanted` of them at least. */
function* rankSection(
  context: SearchContext,
  { low, high, ...conditions }: RankedRequest,
  wanted: number,
): SearchSteps<Section> {
  const { shared, maxRanked = MAX_RANKED } = context;
  const query = new MatchQuery(conditions);
  const runs: Run[] = [];
  let count = 0;
  let at = high;
  while (at >= low && count * query.terms < maxRanked) {
    const part = shared.partOf(at);
    const range = { low: Math.max(low, shared.firstOf(part)), high: at };
    count +=
      query.whole === undefined
        ? yield* rankSeveral(context, query, { ...range, part }, runs)
        : yield* rankWhole(context, query.whole, { ...range, part, wanted }, runs);
    at = range.low - 1;
  }
  return { low: at + 1, runs, count };
}

interface PartRange extends SeqRange {
  readonly part: number;
}

/** Adds runs of the matches in a part, and returns how many matches it has. */
function* rankWhole(
  { index, withheld }: SearchContext,
  query: string,
  { part, low, high, wanted }: PartRange & { readonly wanted: number },
  runs: Run[],
): SearchSteps<number> {
  const table = tableOf(part);
  // Costs a seventh of the other where nothing matches, as in most parts for a rare word. For a beginning of
  // words, FTS5 would merge all words that begin with it once more.
  const any = `SELECT 1 FROM ${table} WHERE ${table} MATCH ? AND ${IN_ROWS} LIMIT 1`;
  yield;
  if (!query.includes('*') && index.statement(any).get(query, low, high) === undefined) return 0;
  // FTS5 counts all matches of the part for each statement: few statements with many matches cost least.
  const best = `WITH matches AS MATERIALIZED (${rankedIn(table)})
    SELECT id, rank, count, last
    FROM (SELECT count(*) AS count, max(id) AS last FROM matches) CROSS JOIN matches
    ORDER BY rank, id DESC LIMIT ?`;
  let total = 0;
  for (let from = low; from <= high;) {
    yield;
    const limit = wanted > MAX_BEST ? -1 : wanted;
    let rows = index.statement(best).all(query, from, high, STEP, limit);
    let shown = withoutWithheld(rows as unknown as readonly Ranked[], withheld);
    // The index still has what was withheld just now: others may have been left out for it.
    if (shown.length < rows.length && limit >= 0) {
      yield;
      rows = index.statement(best).all(query, from, high, STEP, -1);
      shown = withoutWithheld(rows as unknown as readonly Ranked[], withheld);
    }
    if (shown.length > 0) runs.push(runOf(shown));
    const { count = 0, last = high } = rows[0] ?? {};
    total += Number(count) - (rows.length - shown.length);
    if (Number(count) < STEP) break;
    from = Number(last) + 1;
  }
  return total;
}

/** For a query that several statements match together. The rank is a sum over the terms. */
function* rankSeveral(
  { index, withheld }: SearchContext,
  { first, rest }: MatchQuery,
  { part, low, high }: PartRange,
  runs: Run[],
): SearchSteps<number> {
  let total = 0;
  for (let from = low; from <= high; from += STEP) {
    const to = Math.min(high, from + STEP - 1);
    const ranked = function* ranked(queries: Iterable<string>): SearchSteps<Map<Seq, number>> {
      const ranks = new Map<Seq, number>();
      for (const query of queries) {
        yield;
        const rows = index.statement(rankedIn(tableOf(part))).all(query, from, to, -1);
        for (const { id, rank } of rows) ranks.set(Number(id), Number(rank));
      }
      return ranks;
    };
    const sums = yield* ranked(first());
    for (const { queries, isExcluded } of rest) {
      const ranks = sums.size === 0 ? sums : yield* ranked(queries());
      for (const [seq, sum] of sums) {
        const rank = ranks.get(seq);
        if ((rank === undefined) === isExcluded) sums.set(seq, sum + (rank ?? 0));
        else sums.delete(seq);
      }
    }
    const matches = Array.from(sums, ([id, rank]) => ({ id, rank }));
    const shown = withoutWithheld(matches, withheld);
    if (shown.length > 0) runs.push(runOf(shown));
    total += shown.length;
  }
  return total;
}

interface Ranked {
  readonly id: Seq;
  readonly rank: number;
}

function withoutWithheld(matches: readonly Ranked[], withheld: WithheldSeqs): readonly Ranked[] {
  const seqs = matches.map(({ id }) => id).toSorted((a, b) => a - b);
  const shown = withheld.shown(seqs);
  if (shown === seqs) return matches;
  const left = new Set(shown);
  return matches.filter(({ id }) => left.has(id));
}

// The facets of an entry count for its length, not as matches.
function rankedIn(table: string): string {
  return `SELECT rowid AS id, bm25(${table}, 1.0, 0.0) AS rank FROM ${table}
    WHERE ${table} MATCH ? AND ${IN_ROWS} ORDER BY rowid LIMIT ?`;
}

/** Rounded, so that equals do not differ by the order of a sum. */
function runOf(matches: readonly Ranked[]): Run {
  const sorted = matches
    .map(({ id, rank }) => ({ id, rank: Number(rank.toPrecision(12)) }))
    .toSorted((a, b) => a.rank - b.rank || b.id - a.id);
  return {
    ranks: Float64Array.from(sorted, ({ rank }) => rank),
    seqs: Float64Array.from(sorted, ({ id }) => id),
    taken: 0,
  };
}
