/** Sends a thread's queries to the thread of the segments. */
import type { MessagePort } from 'node:worker_threads';

import { GatewayError } from '@open-presence/protocol';

import type { LogRead, RankedEntry, RankedQuery, Seq } from '../../../../log/log.ts';
import type { SeqPage, SeqRange, SeqSource } from '../../seq-source.ts';
import type {
  FromQueryClient,
  PageQuery,
  QueryRequest,
  QueryResponse,
  RankedMatchQuery,
  RankedPage,
} from './messages.ts';

/** A ranked result whose entry has not been read. */
export interface RankedResult extends Pick<RankedEntry, 'next' | 'rankedFrom'> {
  readonly seq: Seq;
}

interface PendingQuery {
  readonly resolve: (response: QueryResponse) => void;
  readonly reject: (error: unknown) => void;
}

interface Abortable {
  readonly signal: AbortSignal | undefined;
}

/** Maximum number of seqs per request. */
const MAX_PAGE = 16 * 1024;

export class QueryClient {
  readonly #port: MessagePort;
  /** By their searches. */
  readonly #pending = new Map<number, PendingQuery>();
  #lastSearch = 0;
  #closed = false;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (response: Partial<QueryResponse>) => {
      if (response.search === undefined) return;
      const pending = this.#pending.get(response.search);
      this.#pending.delete(response.search);
      if (response.unavailable === true) pending?.reject(unavailable());
      else if (response.error !== undefined) pending?.reject(response.error);
      else pending?.resolve(response as QueryResponse);
    });
  }

  /**
   * The matches of a query. Each page must start where the one before ended. A request may cost as
   * much as finding all matches, so each asks for twice as many as the one before.
   */
  matches(
    { signal, ...query }: Pick<PageQuery, 'textQuery' | 'facets' | 'order'> & Abortable,
    { low, high }: SeqRange,
  ): SeqSource {
    const newest = query.order === 'newest';
    let buffered: SeqPage = { seqs: [], next: newest ? high : low };
    let requested = 0;
    let cost = 0;
    const search = this.#newSearch();
    return {
      page: async (from, limit) => {
        if (buffered.seqs.length === 0) {
          const rest = newest ? { low, high: from } : { low: from, high };
          requested = Math.min(MAX_PAGE, Math.max(limit, 2 * requested));
          const page = { ...query, ...rest, limit: requested };
          const response = await this.#request({ search, cost, page }, signal);
          buffered = response.page ?? { seqs: [], next: undefined };
          cost = response.cost;
        }
        const seqs = buffered.seqs.slice(0, limit);
        buffered = { seqs: buffered.seqs.slice(limit), next: buffered.next };
        return { seqs, next: buffered.seqs[0] ?? buffered.next };
      },
    };
  }

  /** The matches in the order of their rank. Until it ends, the other thread holds the ranking. */
  async *ranked(rankedQuery: RankedQuery, range: SeqRange): LogRead<RankedResult> {
    const { textQuery, facets, skip, limit, signal } = rankedQuery;
    const search = this.#newSearch();
    let last: Seq | undefined;
    let left = limit;
    let ranked: RankedMatchQuery | undefined = { textQuery, facets, ...range, skip, limit };
    try {
      for (;;) {
        const request: QueryRequest = ranked === undefined ? { search } : { search, ranked };
        const response = await this.#request(request, signal);
        ranked = undefined;
        const page = response.ranked;
        if (page === undefined) return { last, more: false };
        for (const result of resultsOf(page, range)) {
          yield result;
          last = result.seq;
        }
        left -= page.seqs.length;
        if (!page.more || left === 0) return { last, more: page.more };
      }
    } finally {
      this.#end(search);
    }
  }

  close(): void {
    this.#closed = true;
    for (const { reject } of this.#pending.values()) reject(unavailable());
    this.#pending.clear();
    this.#port.close();
  }

  #newSearch(): number {
    this.#lastSearch += 1;
    return this.#lastSearch;
  }

  #end(search: number): void {
    this.#pending.delete(search);
    if (!this.#closed) this.#port.postMessage({ endOfSearch: search } satisfies FromQueryClient);
  }

  /** Ends the search when the signal is aborted meanwhile. */
  async #request(request: QueryRequest, signal: AbortSignal | undefined): Promise<QueryResponse> {
    if (this.#closed) throw unavailable();
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<QueryResponse>();
    this.#pending.set(request.search, { resolve, reject });
    this.#port.postMessage(request satisfies FromQueryClient);
    const abort = (): void => {
      this.#end(request.search);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }
}

function* resultsOf(
  { seqs, section, skipped, isLast }: RankedPage,
  { low }: SeqRange,
): Generator<RankedResult, void, undefined> {
  const rankedFrom = section.low > low ? section.low : undefined;
  for (const [index, seq] of seqs.entries()) {
    const endsSection = isLast && index === seqs.length - 1 && rankedFrom !== undefined;
    const next = endsSection
      ? { before: rankedFrom, skip: 0 }
      : { before: section.high + 1, skip: skipped + index + 1 };
    yield { seq, next, rankedFrom };
  }
}

function unavailable(): GatewayError {
  return new GatewayError(
    'unavailable',
    'Cannot search now: the search index cannot be read. Try again in a moment, or without "q".',
  );
}
