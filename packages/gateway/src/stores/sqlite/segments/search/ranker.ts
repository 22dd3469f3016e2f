/**
 * Ranks the matches of a query by FTS5's BM25, in each segment by its own numbers: all of them together
 * or, where very many match, those of a section. A section is the newest segments of the range, as many as
 * have that many matches. It depends on the query and on what was stored before the end of the range, not
 * on later entries.
 */
import type { Seq } from '../../../../log/log.ts';
import type { SeqRange } from '../../seq-source.ts';
import type { SharedSegments } from '../../shared-segments.ts';
import { largeRowId, lastLargeRowId, MatchQuery, seqOfLargeRow } from './match-query.ts';
import type { MatchQuery as MatchRequest } from './messages.ts';
import type { SegmentMatches } from './segment-matches.ts';
import type { SearchSteps } from './search-turns.ts';

/** A match. The lower its rank, the better. */
export interface RankedSeq {
  readonly rank: number;
  readonly seq: Seq;
}

/** Takes matches in any order. */
export interface RankSink {
  /** Of the matches of a segment, only as many of the best are needed; -1 for all. */
  readonly limit: number;
  add(match: RankedSeq): void;
}

/** Runs steps in a segment, once it can be read. */
export type InSegment = <T>(
  number: number,
  query: MatchQuery,
  steps: (matches: SegmentMatches) => SearchSteps<T>,
) => SearchSteps<T>;

/** A section ends with the segment in which it has this many matches, times the terms of the query. */
const MAX_RANKED = 2 ** 19;
/** Entries that are ranked together: some dozen milliseconds, where all match. */
const STEP = 65_536;
const LARGE_ROWS = 4096;

// The facets of an entry count for its length, not as matches.
const RANK = 'bm25(texts, 1.0, 0.0) AS rank';
const RANKED = `SELECT rowid AS seq, ${RANK} FROM texts
  WHERE texts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY 2, 1 DESC LIMIT ?`;
const COUNT = 'SELECT count(*) AS count FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?';
const RANKED_ROWS = `SELECT rowid AS id, ${RANK} FROM texts
  WHERE texts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY 1 LIMIT ?`;

export class Ranker {
  readonly #segments: SharedSegments;
  readonly #inSegment: InSegment;
  readonly #maxRanked: number;

  constructor(segments: SharedSegments, inSegment: InSegment, maxRanked: number = MAX_RANKED) {
    this.#segments = segments;
    this.#inSegment = inSegment;
    this.#maxRanked = maxRanked;
  }

  /** Adds the matches of the newest section to the sink. Returns the lowest seq of the section. */
  *rank({ low, high, ...conditions }: MatchRequest, sink: RankSink): SearchSteps<Seq> {
    const query = new MatchQuery(conditions);
    let ranked = 0;
    for (let at = high; at >= low;) {
      const number = this.#segments.numberOf(at);
      const range = { low: Math.max(low, this.#segments.firstOf(number)), high: at };
      // A segment that cannot be read any more is ranked again as a whole.
      const found = yield* this.#inSegment(number, query, (matches) =>
        rankIn(matches, query, range, sink.limit),
      );
      for (const match of found.matches) sink.add(match);
      ranked += found.count * query.terms;
      if (ranked >= this.#maxRanked) return range.low;
      at = range.low - 1;
    }
    return low;
  }
}

interface Ranked {
  /** Of all matches. */
  readonly count: number;
  readonly matches: readonly RankedSeq[];
}

function* rankIn(
  matches: SegmentMatches,
  query: MatchQuery,
  { low, high }: SeqRange,
  limit: number,
): SearchSteps<Ranked> {
  const found: RankedSeq[] = [];
  const { whole } = query;
  const total = whole === undefined ? undefined : yield* countOf(matches, whole, { low, high });
  let count = total ?? 0;
  // Each statement counts all matches of the segment first.
  const step = total !== undefined && total <= STEP ? high - low + 1 : STEP;
  const from = total === 0 ? high + 1 : low;
  for (let to = high; to >= from; to -= step) {
    const range = { low: Math.max(low, to - step + 1), high: to };
    const small =
      whole === undefined
        ? yield* rankInParts(matches, query, range)
        : yield* ranked(matches, whole, range, limit);
    for (const { seq, rank } of small) found.push({ seq, rank: rounded(rank) });
    if (total === undefined) count += small.length;
  }
  if (yield* matches.hasLarge()) {
    const large = yield* rankLarge(matches, query, { low, high });
    found.push(...large);
    count += large.length;
  }
  return { count, matches: found };
}

function* countOf(
  matches: SegmentMatches,
  query: string,
  { low, high }: SeqRange,
): SearchSteps<number> {
  const row = yield* matches.read((index) => index.statement(COUNT).get(query, low, high));
  return Number(row?.['count']);
}

/** For a query that several statements match together. */
function* rankInParts(
  matches: SegmentMatches,
  { first, rest }: MatchQuery,
  { low, high }: SeqRange,
): SearchSteps<readonly RankedSeq[]> {
  let ranks = new Map<Seq, number>();
  for (const one of first.queries())
    for (const { seq, rank } of yield* ranked(matches, one, { low, high })) ranks.set(seq, rank);
  // The rank is a sum over the terms.
  for (const condition of rest) {
    const left = condition.isExcluded ? ranks : new Map<Seq, number>();
    for (const one of ranks.size === 0 ? [] : condition.queries())
      for (const { seq, rank } of yield* ranked(matches, one, { low, high })) {
        const before = ranks.get(seq);
        if (condition.isExcluded) left.delete(seq);
        else if (before !== undefined) left.set(seq, before + rank);
      }
    ranks = left;
  }
  return Array.from(ranks, ([seq, rank]) => ({ seq, rank }));
}

function* ranked(
  matches: SegmentMatches,
  query: string,
  { low, high }: SeqRange,
  limit = -1,
): SearchSteps<RankedSeq[]> {
  const rows = yield* matches.read((index) => index.statement(RANKED).all(query, low, high, limit));
  return rows.map(({ seq, rank }) => ({ seq: seq as Seq, rank: rank as number }));
}

/** The rank of a large entry is that of its best row. */
function* rankLarge(
  matches: SegmentMatches,
  query: MatchQuery,
  { low, high }: SeqRange,
): SearchSteps<readonly RankedSeq[]> {
  const { seqs } = yield* matches.largePage({ low, high, order: 'newest', limit: Infinity });
  const sums = new Map(seqs.map((seq) => [seq, 0]));
  for (const terms of seqs.length === 0 ? [] : query.anyTerm()) {
    const best = new Map<Seq, number>();
    for (let from = largeRowId(low, 0); ;) {
      const rows = yield* matches.read((index) => {
        const statement = index.statement(RANKED_ROWS);
        statement.setReadBigInts(true);
        return statement.all(terms, from, lastLargeRowId(high), LARGE_ROWS);
      });
      for (const { id, rank } of rows as unknown as readonly { id: bigint; rank: number }[]) {
        const seq = seqOfLargeRow(id);
        best.set(seq, Math.min(rank, best.get(seq) ?? 0));
        from = id + 1n;
      }
      if (rows.length < LARGE_ROWS) break;
    }
    for (const [seq, rank] of best) {
      const sum = sums.get(seq);
      if (sum !== undefined) sums.set(seq, sum + rank);
    }
  }
  return Array.from(sums, ([seq, rank]) => ({ seq, rank: rounded(rank) }));
}

/** So that equals do not differ by the order of a sum. */
function rounded(rank: number): number {
  return Number(rank.toPrecision(12));
}
