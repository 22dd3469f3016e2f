/**
 * Ranks the matches of a query by FTS5's BM25, in each segment by its own numbers: all of them together
 * or, where very many match, those of a section. A section is the newest segments of the range, as many as
 * have that many matches. It depends on the query and on what was stored before the end of the range, not
 * on later entries.
 */
import type { Seq } from '../../../../log/log.ts';
import type { SeqRange } from '../../seq-source.ts';
import type { WithheldRanges } from '../../withholding/withheld-ranges.ts';
import type { IndexConnection } from '../segment-database.ts';
import { IN_ROWS, MatchQuery } from './match-query.ts';
import type { RankedRequest } from './search-calls.ts';
import type { SearchSteps } from './search-steps.ts';
import type { SegmentMatches } from './segment-matches.ts';
import { inSegment, type SearchContext } from './word-search.ts';

/** A match. The lower its rank, the better. */
export interface RankedSeq {
  readonly rank: number;
  readonly seq: Seq;
}

/** Takes matches in any order. */
export interface RankSink {
  /** How many of the best matches of a segment are needed; -1 for all. */
  readonly limit: number;
  add(match: RankedSeq): void;
}

/** A section ends at the segment that brings its matches to this number, times the terms of the query. */
const MAX_RANKED = 2 ** 18;
/** Entries that are ranked together: some dozen milliseconds. */
const STEP = 65_536;

// The facets of an entry count for its length, not as matches.
const MATCHES = `SELECT rowid AS id, bm25(texts, 1.0, 0.0) AS rank FROM texts
  WHERE texts MATCH ? AND ${IN_ROWS} ORDER BY rowid LIMIT ?`;
const ANY = `SELECT 1 FROM texts WHERE texts MATCH ? AND ${IN_ROWS} LIMIT 1`;
// FTS5 counts all matches of the segment for each statement: few statements with many matches cost least.
const BEST = `WITH matches AS MATERIALIZED (${MATCHES})
  SELECT id, rank, count, last
  FROM (SELECT count(*) AS count, max(id) AS last FROM matches) CROSS JOIN matches
  ORDER BY rank, id DESC LIMIT ?`;

interface RankedRow {
  readonly id: number;
  readonly rank: number;
}

/** Adds the matches of the newest section to the sink. Returns the lowest seq of the section. */
export function* rankSection(
  context: SearchContext,
  { low, high, ...conditions }: Omit<RankedRequest, 'skip' | 'limit'>,
  sink: RankSink,
): SearchSteps<Seq> {
  const { shared, withheld, maxRanked = MAX_RANKED } = context;
  const query = new MatchQuery(conditions);
  let ranked = 0;
  for (let at = high; at >= low;) {
    const number = shared.segments.numberOf(at);
    const range = { low: Math.max(low, shared.segments.firstOf(number)), high: at };
    const rank = (limit: number): SearchSteps<Ranked> =>
      inSegment(context, number, query, (matches) => rankIn(matches, query, range, limit));
    let found = yield* rank(sink.limit);
    let best = withoutWithheld(found.best, withheld);
    // The index still has what was withheld just now: others may have been left out for it.
    if (best.length < found.best.length && sink.limit >= 0) {
      found = yield* rank(-1);
      best = withoutWithheld(found.best, withheld);
    }
    for (const match of best) sink.add(match);
    ranked += found.count * query.terms;
    if (ranked >= maxRanked) return range.low;
    at = range.low - 1;
  }
  return low;
}

function withoutWithheld(
  matches: readonly RankedSeq[],
  withheld: WithheldRanges,
): readonly RankedSeq[] {
  const seqs = matches.map(({ seq }) => seq).toSorted((a, b) => a - b);
  const shown = withheld.shown(seqs);
  if (shown === seqs) return matches;
  const left = new Set(shown);
  return matches.filter(({ seq }) => left.has(seq));
}

interface Ranked {
  count: number;
  readonly best: RankedSeq[];
}

function* rankIn(
  matches: SegmentMatches,
  query: MatchQuery,
  range: SeqRange,
  limit: number,
): SearchSteps<Ranked> {
  const found: Ranked = { count: 0, best: [] };
  if (query.whole === undefined) yield* rankInParts(matches, query, range, found);
  else yield* rankWhole(matches, query.whole, range, { limit, found });
  return found;
}

function* rankWhole(
  matches: SegmentMatches,
  query: string,
  { low, high }: SeqRange,
  { limit, found }: { readonly limit: number; readonly found: Ranked },
): SearchSteps<void> {
  // Costs a seventh of BEST where nothing matches, as in most segments for a rare word. For a beginning of words,
  // FTS5 would merge all words that begin with it once more.
  const mayLookFirst = !query.includes('*');
  const any = (index: IndexConnection): unknown => index.statement(ANY).get(query, low, high);
  if (mayLookFirst && (yield* matches.read(any)) === undefined) return;
  for (let from = low; from <= high;) {
    const rows = yield* matches.read((index) =>
      index.statement(BEST).all(query, from, high, STEP, limit),
    );
    for (const row of rows) found.best.push(rankedSeq(Number(row['id']), Number(row['rank'])));
    const { count = 0, last = high } = rows[0] ?? {};
    found.count += Number(count);
    if (Number(count) < STEP) return;
    from = Number(last) + 1;
  }
}

/** For a query that several statements match together. */
function* rankInParts(
  matches: SegmentMatches,
  { first, rest }: MatchQuery,
  range: SeqRange,
  found: Ranked,
): SearchSteps<void> {
  for (let { low } = range; low <= range.high; low += STEP) {
    const high = Math.min(range.high, low + STEP - 1);
    let ranks = new Map<Seq, number>();
    for (const one of first())
      for (const { id, rank } of yield* rankedRows(matches, one, low, high)) ranks.set(id, rank);
    // The rank is a sum over the terms.
    for (const { queries, isExcluded } of rest) {
      const left = isExcluded ? ranks : new Map<Seq, number>();
      for (const one of ranks.size === 0 ? [] : queries())
        for (const { id, rank } of yield* rankedRows(matches, one, low, high)) {
          const before = ranks.get(id);
          if (isExcluded) left.delete(id);
          else if (before !== undefined) left.set(id, before + rank);
        }
      ranks = left;
    }
    found.count += ranks.size;
    for (const [seq, rank] of ranks) found.best.push(rankedSeq(seq, rank));
  }
}

function* rankedRows(
  matches: SegmentMatches,
  query: string,
  from: number,
  to: number,
): SearchSteps<readonly RankedRow[]> {
  const rows = yield* matches.read((index) => index.statement(MATCHES).all(query, from, to, -1));
  return rows as unknown as readonly RankedRow[];
}

/** Rounded, so that equals do not differ by the order of a sum. */
function rankedSeq(seq: Seq, rank: number): RankedSeq {
  return { seq, rank: Number(rank.toPrecision(12)) };
}
