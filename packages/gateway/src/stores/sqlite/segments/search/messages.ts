/** What the threads of readers send to the thread of the segments, and what it answers. */
import type { FacetCondition } from '../../../../log/facet.ts';
import type { Order, Seq } from '../../../../log/log.ts';
import type { TextQuery } from '../../../../log/text-query.ts';
import type { DamageReport } from '../../damage/messages.ts';
import type { SeqPage, SeqRange } from '../../seq-source.ts';
import type { RunFile } from '../run-files.ts';
import type { SpoiledSegment } from '../segment-reader.ts';

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

/** Ranked results of one section. */
export interface RankedPage {
  readonly seqs: readonly Seq[];
  readonly more: boolean;
  /** The seqs of the section. */
  readonly section: SeqRange;
  /** How many results of the section come before these. */
  readonly skipped: number;
  /** Whether these are the last results of the section. */
  readonly isLast: boolean;
}

/**
 * Asks for a page of matches (`page`), or for the first (`ranked`) or next page of ranked results. One
 * request of a search at a time.
 */
export interface QueryRequest {
  /** Identifies the search among those of a port. */
  readonly search: number;
  /** In ms: what its requests for pages have cost so far. */
  readonly cost?: number;
  readonly page?: PageQuery;
  readonly ranked?: RankedMatchQuery;
}

/** A request, or that a search has ended: it ends what is done for it, and is sent no response. */
export type FromQueryClient = QueryRequest | { readonly endOfSearch: number };

export interface QueryResponse {
  readonly search: number;
  /** In ms: what the search has cost so far. */
  readonly cost: number;
  readonly page?: SeqPage;
  readonly ranked?: RankedPage;
  /** There is neither, because the index cannot be read now. */
  readonly unavailable?: true;
  /** There is neither, because of a fault of the gateway. */
  readonly error?: unknown;
}

export type FromReader =
  | FromQueryClient
  | DamageReport
  | { readonly spoiled: SpoiledSegment }
  /** A run that is not stored in this form. */
  | { readonly wanted: RunFile };
