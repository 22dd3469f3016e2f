/** What a reader's thread asks the index's thread, and what it reports to it. */
import type { FacetCondition } from '../../log/facet.ts';
import type { Seq } from '../../log/log.ts';
import type { TextQuery } from '../../log/text-query.ts';
import type { ThreadCall } from '../../thread-call.ts';
import type { PageOf, SeqPage, SeqRange } from '../seq-source.ts';

interface Searched extends SeqRange {
  readonly textQuery: TextQuery;
  readonly facets: readonly FacetCondition[];
}

/** `all`: with what is hidden. */
export type PageRequest = Searched & PageOf & { readonly all?: boolean | undefined };

export interface RankedRequest extends Searched {
  readonly skip: number;
  readonly limit: number;
}

export interface RankedPage {
  readonly seqs: readonly Seq[];
  /** Whether there are more results than these, whatever the limit. */
  readonly more: boolean;
  /** The seqs of the section. */
  readonly section: SeqRange;
  /** How many results of the section come before these. */
  readonly skipped: number;
  /** Whether these are the last results of the section. */
  readonly isLast: boolean;
}

interface SearchRequest<Wanted> {
  readonly search: number;
  readonly wanted: Wanted;
}

interface Matches {
  readonly page: SeqPage;
  readonly turns: number;
}

/** `unavailable`: the index cannot be read now. `error`: a fault of the gateway. */
export type Answer<Found> =
  | { readonly found: Found }
  | { readonly unavailable: true }
  | { readonly error: unknown };

export interface SearchCalls {
  page(request: SearchRequest<PageRequest> & { readonly turns: number }): Promise<Answer<Matches>>;
  /** The first page of a ranking, or the next one without a request. It is held until the search ends. */
  ranked(request: SearchRequest<RankedRequest | undefined>): Promise<Answer<RankedPage>>;
}

export type FromReader =
  | ThreadCall<SearchCalls>
  /** Ends what is done for the search. */
  | { readonly endOfSearch: number }
  /** The caller has ended its half. */
  | { readonly callerEndedOf: number }
  /** The index of this version is not what was written. */
  | { readonly spoiledIndex: number }
  /** The frame with this number has not what is shown now. */
  | { readonly staleFrame: number };
