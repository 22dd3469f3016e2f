/**
 * Ranks matches of a query by BM25: all of them together or, where very many match, those of a section.
 * A section is the newest part of the range, whose matches are ranked within a fraction of a second. It
 * depends on the query and on what was stored before the end of the range, not on later entries.
 */
import type { DatabaseSync } from 'node:sqlite';

import { GatewayError } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import { termsIn, type TextQuery } from '../../../log/text-query.ts';
import type { FacetSources } from '../index/facet-search.ts';
import type { SeqPage } from '../seq-source.ts';
import type { SharedState } from '../shared-state.ts';
import { atMostWithFacets, facetFilter, type NextWithFacets } from './facet-filter.ts';
import { ftsPhrase, wholeQuery } from './fts.ts';
import type { LargeEntries } from './large-entries.ts';
import type { MatchQuery, PageQuery } from './messages.ts';
import type { PartReader } from './parts.ts';
import type { SearchSteps } from './search-turns.ts';
import { isOneTerm, type SmallEntries, type SmallPart } from './small-entries.ts';
import { rounded, TermScores } from './term-scores.ts';
import { TermWeights } from './term-weights.ts';

/** A match. The lower its rank, the better. */
export interface RankedSeq {
  readonly rank: number;
  readonly seq: Seq;
}

/** Takes matches in any order. */
export interface RankSink {
  /** Matches of this rank or above are not needed. It may decrease as matches are added. */
  readonly maxRank: number;
  add(match: RankedSeq): void;
}

/** If no more entries have the facets, only these are ranked. */
const MAX_CANDIDATES = 16 * 1024;
/** If there are more matches in a part, all of its rows are ranked: naming them would cost more. */
const MAX_LISTED = 512;
/** Large entries that are looked for together. */
const LARGE_PAGE = 256;
/** A section ends with the part in which it has this many small matches, times the terms of the query. */
const MAX_RANKED = 192 * 1024;
/** A section ends with about this many large matches: each is ranked by itself. */
const MAX_LARGE = 1024;

/** Throws while the index is rebuilt, because it would find only some of the matches. */
export function requireSearchable({ high }: MatchQuery, { searched }: SharedState): void {
  if (high <= searched) return;
  throw new GatewayError(
    'unavailable',
    `Cannot search now: the search index is being rebuilt up to seq ${high}. Try again in a moment.`,
  );
}

interface RankerSources {
  readonly words: DatabaseSync;
  readonly parts: PartReader;
  readonly facets: FacetSources;
  readonly small: SmallEntries;
  readonly large: LargeEntries;
}

export class Ranker {
  readonly #maxRanked: number;
  readonly #facets: FacetSources;
  readonly #small: SmallEntries;
  readonly #large: LargeEntries;
  readonly #scores: TermScores;

  constructor(
    { words, parts, facets, small, large }: RankerSources,
    maxRanked: number = MAX_RANKED,
  ) {
    this.#maxRanked = maxRanked;
    this.#facets = facets;
    this.#small = small;
    this.#large = large;
    this.#scores = new TermScores(words, parts);
  }

  /**
   * Adds the matches of the newest section to the sink, except those that it does not need. Returns the
   * lowest seq of the section.
   */
  *rank(query: MatchQuery, sink: RankSink): SearchSteps<Seq> {
    requireSearchable(query, this.#facets.shared);
    const { facets } = query;
    const candidates =
      facets.length === 0
        ? undefined
        : yield* atMostWithFacets(this.#facets, MAX_CANDIDATES, query);
    if (candidates?.length === 0) return query.low;
    const weights = new TermWeights(this.#scores, query.textQuery.all);
    const large = yield* this.#newestLarge(query);
    const low = yield* this.#rankSmall({ ...query, low: large.low }, candidates, weights, sink);
    yield* this.#rankLarge({ ...query, low }, large.seqs, weights, sink);
    return low;
  }

  /** The newest large matches, whatever their facets, and from which seq on these are all. */
  *#newestLarge(query: MatchQuery): SearchSteps<{ readonly seqs: Seq[]; readonly low: Seq }> {
    const seqs: Seq[] = [];
    for (let high: Seq | undefined = query.high; high !== undefined;) {
      const wanted: PageQuery = { ...query, high, order: 'newest', limit: LARGE_PAGE };
      const page: SeqPage = yield* this.#large.page(wanted);
      seqs.push(...page.seqs);
      high = page.next;
      if (seqs.length >= MAX_LARGE) return { seqs, low: seqs.at(-1) ?? query.low };
    }
    return { seqs, low: query.low };
  }

  /**
   * Newest first, so that of equals the older ones need not be looked at. Returns the lowest seq of the
   * section.
   */
  *#rankSmall(
    query: MatchQuery,
    candidates: readonly Seq[] | undefined,
    weights: TermWeights,
    sink: RankSink,
  ): SearchSteps<Seq> {
    const nextWithFacets = this.#filter(query, candidates);
    let ranked = 0;
    for (const part of this.#small.partsIn(query, 'newest')) {
      yield;
      const { low, high } = part.range;
      if (ranked >= this.#maxRanked) return high + 1;
      const among = candidates?.filter((seq) => seq >= low && seq <= high);
      if (among?.length === 0) continue;
      const { count, matches } = isOneTerm(query.textQuery)
        ? yield* this.#rankTerm(part, query, among, sink.maxRank)
        : yield* this.#rankTerms(part, query, { among, maxRank: sink.maxRank, weights });
      if (candidates === undefined) ranked += count * query.textQuery.all.count;
      for (const match of matches) {
        yield;
        if (match.rank >= sink.maxRank) continue;
        if (nextWithFacets === undefined || (yield* nextWithFacets(match.seq)) === match.seq)
          sink.add(match);
      }
    }
    return query.low;
  }

  /** Undefined if no filter is needed: there are no facets, or all seqs that have them are known. */
  #filter(
    { facets, low }: MatchQuery,
    candidates: readonly Seq[] | undefined,
  ): NextWithFacets | undefined {
    if (facets.length === 0 || candidates !== undefined) return undefined;
    return facetFilter(this.#facets, { facets, order: 'newest', until: low });
  }

  /** Newest first. Leaves out matches of this rank or above. */
  *#rankTerm(
    part: SmallPart,
    { textQuery }: MatchQuery,
    among: readonly Seq[] | undefined,
    maxRank: number,
  ): SearchSteps<MatchesInPart> {
    const term = termsIn(textQuery.all).next().value ?? undefined;
    const weight = term && this.#scores.weightIn(part, term);
    if (term === undefined || weight === undefined) return NO_MATCHES;
    yield;
    const phrase = ftsPhrase(term, part.prefix);
    const count = this.#scores.count(phrase, part.range);
    yield;
    const most = maxRank * weight;
    const selected = { ...part.range, maxRank: most, among: among && JSON.stringify(among) };
    const rows = this.#scores.rows(phrase, selected);
    const matches = rows.map(({ id, rank }) => ({ seq: Number(id), rank: rounded(rank / weight) }));
    return { count, matches };
  }

  /** Newest first. May leave out matches of this rank or above. */
  *#rankTerms(
    part: SmallPart,
    { textQuery }: MatchQuery,
    { among, maxRank, weights }: TermsSelection,
  ): SearchSteps<MatchesInPart> {
    const candidates = among && new Set(among);
    const found = yield* this.#candidates(part, textQuery, maxRank, weights);
    const { count } = found;
    const seqs = found.seqs.filter((seq) => candidates?.has(seq) !== false);
    if (seqs.length === 0) return { count, matches: [] };
    const selected =
      seqs.length > MAX_LISTED ? part.range : { ...part.range, among: JSON.stringify(seqs) };
    const ranks = yield* weights.rank(part, selected);
    const matches = seqs.map((seq) => ({ seq, rank: rounded(ranks.get(seq) ?? 0) }));
    return { count, matches };
  }

  /**
   * The matches in a part, newest first, and how many there are. Leaves out, where one statement can match the query, those that
   * cannot have a lower rank than this: the weight of no term grows more than that of another between
   * the part and the whole.
   */
  *#candidates(
    part: SmallPart,
    textQuery: TextQuery,
    maxRank: number,
    weights: TermWeights,
  ): SearchSteps<{ readonly count: number; readonly seqs: readonly Seq[] }> {
    const query = wholeQuery(textQuery, part.prefix);
    if (query === undefined || maxRank === Infinity) {
      const limit = Number.MAX_SAFE_INTEGER;
      const wanted = { ...part.range, order: 'newest', limit } as const;
      const seqs = yield* this.#small.matches(part, textQuery, wanted);
      return { count: seqs.length, seqs };
    }
    const ratio = yield* weights.greatestRatio(part);
    if (ratio === undefined) return { count: 0, seqs: [] };
    const count = this.#scores.count(query, part.range);
    yield;
    const rows = this.#scores.rows(query, { ...part.range, maxRank: maxRank / ratio });
    yield;
    return { count, seqs: rows.map(({ id }) => Number(id)) };
  }

  /** `seqs`: newest first. The rank of a large entry is that of its best row. */
  *#rankLarge(
    { facets, low }: MatchQuery,
    seqs: readonly Seq[],
    weights: TermWeights,
    sink: RankSink,
  ): SearchSteps<void> {
    const nextWithFacets =
      facets.length === 0
        ? undefined
        : facetFilter(this.#facets, { facets, order: 'newest', until: low });
    for (const seq of seqs) {
      if (seq < low) return;
      if (nextWithFacets !== undefined && (yield* nextWithFacets(seq)) !== seq) continue;
      let best = 0;
      for (const part of this.#large.partsIn({ low: seq, high: seq }, 'newest')) {
        const ranks = yield* weights.rank(part, part.range);
        for (const rank of ranks.values()) best = Math.min(best, rank);
      }
      sink.add({ seq, rank: rounded(best) });
    }
  }
}

interface MatchesInPart {
  /** Of all matches, whatever their facets and ranks. */
  readonly count: number;
  /** Newest first. */
  readonly matches: readonly RankedSeq[];
}

const NO_MATCHES: MatchesInPart = { count: 0, matches: [] };

interface TermsSelection {
  readonly among: readonly Seq[] | undefined;
  readonly maxRank: number;
  readonly weights: TermWeights;
}
