/** What clients send to the thread of the full-text index, and what it answers. */
import type { FacetCondition } from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';
import type { TextQuery } from '../../../log/text-query.ts';
import type { SeqPage, SeqRange } from '../seq-source.ts';

export interface MatchQuery extends SeqRange {
  readonly textQuery: TextQuery;
  readonly facets: readonly FacetCondition[];
}

export interface PageQuery extends MatchQuery {
  readonly order: Order;
  readonly limit: number;
}

export interface RankedMatchQuery extends MatchQuery {
  /** How many of the best results to leave out. */
  readonly skip: number;
  readonly limit: number;
}

/** Asks for the next page of ranked results; `query` comes with the first request. */
export interface RankedPageRequest {
  /** Identifies the ranked results among those of a port. */
  readonly results: number;
  readonly query: RankedMatchQuery | undefined;
}

export interface RankedPage {
  readonly seqs: readonly Seq[];
  readonly more: boolean;
}

/** Has either `page` or `ranked`. */
export interface QueryRequest {
  readonly id: number;
  readonly page?: PageQuery;
  readonly ranked?: RankedPageRequest;
}

/** A request, or that ranked results are not needed any more. */
export type FromQueryClient = QueryRequest | { readonly endOfResults: number };

export interface QueryResponse {
  readonly id: number;
  readonly page?: SeqPage;
  readonly ranked?: RankedPage;
  /** There is neither, because the index cannot be read now. */
  readonly unavailable?: true;
  /** There is neither, because of a fault of the gateway. */
  readonly error?: unknown;
}
