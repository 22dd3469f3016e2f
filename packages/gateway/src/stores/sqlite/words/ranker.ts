/** Ranks all matches of a query by BM25. */
import type { DatabaseSync } from 'node:sqlite';

import { GatewayError } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import { termsIn, type TermList, type TextQuery } from '../../../log/text-query.ts';
import type { FacetSources } from '../index/facet-search.ts';
import type { SeqPage } from '../seq-source.ts';
import type { SharedState } from '../shared-state.ts';
import { atMostWithFacets, facetFilter, type NextWithFacets } from './facet-filter.ts';
import { ftsPhrase, wholeQuery } from './fts.ts';
import type { LargeEntries } from './large-entries.ts';
import type { MatchQuery, PageQuery } from './messages.ts';
import type { Part, PartReader } from './parts.ts';
import type { SearchSteps } from './search-turns.ts';
import { isOneTerm, type SmallEntries, type SmallPart } from './small-entries.ts';
import { rounded, TermScores, type RowSelection } from './term-scores.ts';

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
  readonly #facets: FacetSources;
  readonly #small: SmallEntries;
  readonly #large: LargeEntries;
  readonly #scores: TermScores;

  constructor({ words, parts, facets, small, large }: RankerSources) {
    this.#facets = facets;
    this.#small = small;
    this.#large = large;
    this.#scores = new TermScores(words, parts);
  }

  /** Adds all matches to the sink, except those that it does not need. */
  *rank(query: MatchQuery, sink: RankSink): SearchSteps<void> {
    requireSearchable(query, this.#facets.shared);
    const { facets } = query;
    const candidates =
      facets.length === 0
        ? undefined
        : yield* atMostWithFacets(this.#facets, MAX_CANDIDATES, query);
    if (candidates?.length === 0) return;
    const weights = new TermWeights(this.#scores, query.textQuery.all);
    yield* this.#rankSmall(query, candidates, weights, sink);
    yield* this.#rankLarge(query, weights, sink);
  }

  /** Newest first, so that of equals the older ones need not be looked at. */
  *#rankSmall(
    query: MatchQuery,
    candidates: readonly Seq[] | undefined,
    weights: TermWeights,
    sink: RankSink,
  ): SearchSteps<void> {
    const nextWithFacets = this.#filter(query, candidates);
    for (const part of this.#small.partsIn(query, 'newest')) {
      yield;
      const { low, high } = part.range;
      const among = candidates?.filter((seq) => seq >= low && seq <= high);
      if (among?.length === 0) continue;
      const matches = isOneTerm(query.textQuery)
        ? yield* this.#rankTerm(part, query, among, sink.maxRank)
        : yield* this.#rankTerms(part, query, { among, maxRank: sink.maxRank, weights });
      for (const match of matches) {
        yield;
        if (match.rank >= sink.maxRank) continue;
        if (nextWithFacets === undefined || (yield* nextWithFacets(match.seq)) === match.seq)
          sink.add(match);
      }
    }
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
  ): SearchSteps<RankedSeq[]> {
    const term = termsIn(textQuery.all).next().value ?? undefined;
    const weight = term && this.#scores.weightIn(part, term);
    if (term === undefined || weight === undefined) return [];
    yield;
    const most = maxRank * weight;
    const selected = { ...part.range, maxRank: most, among: among && JSON.stringify(among) };
    const rows = this.#scores.rows(ftsPhrase(term, part.prefix), selected);
    return rows.map(({ id, rank }) => ({ seq: Number(id), rank: rounded(rank / weight) }));
  }

  /** Newest first. May leave out matches of this rank or above. */
  *#rankTerms(
    part: SmallPart,
    { textQuery }: MatchQuery,
    { among, maxRank, weights }: TermsSelection,
  ): SearchSteps<RankedSeq[]> {
    const candidates = among && new Set(among);
    const found = yield* this.#candidates(part, textQuery, maxRank, weights);
    const seqs = found.filter((seq) => candidates?.has(seq) !== false);
    if (seqs.length === 0) return [];
    const selected =
      seqs.length > MAX_LISTED ? part.range : { ...part.range, among: JSON.stringify(seqs) };
    const ranks = yield* weights.rank(part, selected);
    return seqs.map((seq) => ({ seq, rank: rounded(ranks.get(seq) ?? 0) }));
  }

  /**
   * The matches in a part, newest first. Leaves out, where one statement can match the query, those that
   * cannot have a lower rank than this: the weight of no term grows more than that of another between
   * the part and the whole.
   */
  *#candidates(
    part: SmallPart,
    textQuery: TextQuery,
    maxRank: number,
    weights: TermWeights,
  ): SearchSteps<readonly Seq[]> {
    const query = wholeQuery(textQuery, part.prefix);
    if (query === undefined || maxRank === Infinity) {
      const limit = Number.MAX_SAFE_INTEGER;
      return yield* this.#small.matches(part, textQuery, { ...part.range, order: 'newest', limit });
    }
    const ratio = yield* weights.greatestRatio(part);
    if (ratio === undefined) return [];
    const rows = this.#scores.rows(query, { ...part.range, maxRank: maxRank / ratio });
    yield;
    return rows.map(({ id }) => Number(id));
  }

  /** The rank of a large entry is that of its best row. */
  *#rankLarge(query: MatchQuery, weights: TermWeights, sink: RankSink): SearchSteps<void> {
    const { facets, low } = query;
    const nextWithFacets =
      facets.length === 0
        ? undefined
        : facetFilter(this.#facets, { facets, order: 'newest', until: low });
    for (let high: Seq | undefined = query.high; high !== undefined;) {
      const wanted: PageQuery = { ...query, high, order: 'newest', limit: LARGE_PAGE };
      const page: SeqPage = yield* this.#large.page(wanted);
      for (const seq of page.seqs) {
        if (nextWithFacets !== undefined && (yield* nextWithFacets(seq)) !== seq) continue;
        let best = 0;
        for (const part of this.#large.partsIn({ low: seq, high: seq }, 'newest')) {
          const ranks = yield* weights.rank(part, part.range);
          for (const rank of ranks.values()) best = Math.min(best, rank);
        }
        sink.add({ seq, rank: rounded(best) });
      }
      high = page.next;
    }
  }
}

interface TermsSelection {
  readonly among: readonly Seq[] | undefined;
  readonly maxRank: number;
  readonly weights: TermWeights;
}

/** Ranks rows by several terms. */
class TermWeights {
  readonly #scores: TermScores;
  readonly #terms: TermList;
  /** Looked up once there is a match. */
  #weights: Float64Array | undefined;

  constructor(scores: TermScores, terms: TermList) {
    this.#scores = scores;
    this.#terms = terms;
  }

  /** The ranks of the selected rows of a part that have any of the terms, by their ids. */
  *rank(part: Part, selected: RowSelection): SearchSteps<Map<bigint | number, number>> {
    const weights = (this.#weights ??= yield* this.#scores.weights(this.#terms));
    const ranks = new Map<bigint | number, number>();
    let at = 0;
    for (const term of termsIn(this.#terms)) {
      yield;
      const weight = weights[at] ?? 0;
      at += 1;
      const weightInPart = this.#scores.weightIn(part, term);
      if (weightInPart === undefined) continue;
      yield;
      for (const { id, rank } of this.#scores.rows(ftsPhrase(term, part.prefix), selected)) {
        ranks.set(id, (ranks.get(id) ?? 0) + (weight * rank) / weightInPart);
      }
    }
    return ranks;
  }

  /**
   * By how much the weight of a term grows at most between a part and the whole index; undefined if no
   * row of the part has one of the terms.
   */
  *greatestRatio(part: Part): SearchSteps<number | undefined> {
    const weights = (this.#weights ??= yield* this.#scores.weights(this.#terms));
    let greatest = 0;
    let at = 0;
    for (const term of termsIn(this.#terms)) {
      yield;
      const weightInPart = this.#scores.weightIn(part, term);
      if (weightInPart === undefined) return undefined;
      greatest = Math.max(greatest, (weights[at] ?? 0) / weightInPart);
      at += 1;
    }
    return greatest;
  }
}
