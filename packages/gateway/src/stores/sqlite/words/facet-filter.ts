import type { DatabaseSync } from 'node:sqlite';

import type { Facet } from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';
import { FacetSearch } from '../index/facet-search.ts';
import { UnindexedTail } from '../index/unindexed-tail.ts';
import type { SharedState } from '../shared-state.ts';
import type { MatchQuery } from './messages.ts';

/** Seqs per page: finding a page costs as much as finding many seqs. */
const PAGE_SIZE = 512;

/** Must be called with seqs in order. Returns the first seq at or beyond it that has the facets. */
export type NextWithFacets = (seq: Seq) => Seq | undefined;

/** Looks up facets for full-text queries. */
export class FacetFilter {
  readonly #index: DatabaseSync;
  readonly #tail: UnindexedTail;
  readonly #shared: SharedState;

  constructor(log: DatabaseSync, index: DatabaseSync, shared: SharedState) {
    this.#index = index;
    this.#tail = new UnindexedTail(log);
    this.#shared = shared;
  }

  /** `until`: the last seq to look at, inclusive. */
  next(facets: readonly Facet[], order: Order, until: Seq): NextWithFacets {
    if (facets.length === 0) return (seq) => seq;
    const search = this.#search(facets, order, until);
    let next: Seq | undefined;
    let ended = false;
    return (seq) => {
      if (ended) return undefined;
      const isPassed = next === undefined || (order === 'newest' ? next > seq : next < seq);
      if (!isPassed) return next;
      for (let from: Seq | undefined = seq; from !== undefined;) {
        const page = search.page(from, 1);
        if (page.seqs.length > 0) return (next = page.seqs[0]);
        from = page.next;
      }
      ended = true;
      return undefined;
    };
  }

  /** All seqs with the facets, or undefined if there are more than `limit`. */
  async atMost(
    limit: number,
    { facets, low, high }: MatchQuery,
    yieldTurn: () => Promise<void>,
  ): Promise<readonly Seq[] | undefined> {
    const search = this.#search(facets, 'oldest', high);
    const seqs: Seq[] = [];
    for (let from: Seq | undefined = low; from !== undefined;) {
      const page = search.page(from, PAGE_SIZE);
      seqs.push(...page.seqs);
      if (seqs.length > limit) return undefined;
      from = page.next;
      await yieldTurn();
    }
    return seqs;
  }

  #search(facets: readonly Facet[], order: Order, until: Seq): FacetSearch {
    return new FacetSearch(this.#index, this.#tail, this.#shared, { facets, order, until });
  }
}
