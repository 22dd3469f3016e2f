/** Looks up facets for full-text queries. */
import type { Seq } from '../../../log/log.ts';
import { type FacetQuery, FacetSearch, type FacetSources } from '../index/facet-search.ts';
import type { MatchQuery } from './messages.ts';
import type { SearchSteps } from './search-turns.ts';

/** Seqs per page: finding a page costs as much as finding many seqs. */
const PAGE_SIZE = 512;

/** Must be called with seqs in order. Returns the first seq at or beyond it that has the facets. */
export type NextWithFacets = (seq: Seq) => SearchSteps<Seq | undefined>;

export function facetFilter(sources: FacetSources, query: FacetQuery): NextWithFacets {
  const { order } = query;
  const search = new FacetSearch(sources, query);
  let next: Seq | undefined;
  let ended = false;
  return function* nextWithFacets(seq) {
    if (ended) return undefined;
    const isPassed = next === undefined || (order === 'newest' ? next > seq : next < seq);
    if (!isPassed) return next;
    for (let from: Seq | undefined = seq; from !== undefined;) {
      const page = search.page(from, 1);
      if (page.seqs.length > 0) return (next = page.seqs[0]);
      from = page.next;
      yield;
    }
    ended = true;
    return undefined;
  };
}

/** All seqs with the facets, or undefined if there are more than `limit`. */
export function* atMostWithFacets(
  sources: FacetSources,
  limit: number,
  { facets, low, high }: MatchQuery,
): SearchSteps<readonly Seq[] | undefined> {
  const search = new FacetSearch(sources, { facets, order: 'oldest', until: high });
  const seqs: Seq[] = [];
  for (let from: Seq | undefined = low; from !== undefined;) {
    const page = search.page(from, PAGE_SIZE);
    seqs.push(...page.seqs);
    if (seqs.length > limit) return undefined;
    from = page.next;
    yield;
  }
  return seqs;
}
