/** Sends a thread's queries to the thread of the full-text index. */
import type { MessagePort } from 'node:worker_threads';

import { GatewayError } from '@open-presence/protocol';

import type { LogRead, RankedQuery, Seq } from '../../../log/log.ts';
import type { SeqPage, SeqRange, SeqSource } from '../seq-source.ts';
import type {
  FromQueryClient,
  PageQuery,
  QueryRequest,
  QueryResponse,
  RankedMatchQuery,
} from './messages.ts';

interface PendingQuery {
  readonly resolve: (response: QueryResponse) => void;
  readonly reject: (error: unknown) => void;
}

const NO_RESULTS = { seqs: [], more: false };
/** Maximum number of seqs per request. */
const MAX_PAGE = 16 * 1024;

export class QueryClient {
  readonly #port: MessagePort;
  readonly #pending = new Map<number, PendingQuery>();
  #lastId = 0;
  #lastResults = 0;
  #closed = false;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (response: QueryResponse) => {
      const pending = this.#pending.get(response.id);
      this.#pending.delete(response.id);
      if (response.unavailable === true) pending?.reject(unavailable());
      else if (response.error !== undefined) pending?.reject(response.error);
      else pending?.resolve(response);
    });
  }

  /**
   * The matches of a query. Each page must start where the one before ended. A request may cost as
   * much as finding all matches, so each asks for twice as many as the one before.
   */
  matches(
    query: Pick<PageQuery, 'textQuery' | 'facets' | 'order'>,
    { low, high }: SeqRange,
  ): SeqSource {
    const newest = query.order === 'newest';
    let buffered: SeqPage = { seqs: [], next: newest ? high : low };
    let requested = 0;
    return {
      page: async (from, limit) => {
        if (buffered.seqs.length === 0) {
          const rest = newest ? { low, high: from } : { low: from, high };
          requested = Math.min(MAX_PAGE, Math.max(limit, 2 * requested));
          const { page } = await this.#request({ page: { ...query, ...rest, limit: requested } });
          buffered = page ?? { seqs: [], next: undefined };
        }
        const seqs = buffered.seqs.slice(0, limit);
        buffered = { seqs: buffered.seqs.slice(limit), next: buffered.next };
        return { seqs, next: buffered.seqs[0] ?? buffered.next };
      },
    };
  }

  /** The matches in the order of their rank. Until it ends, the other thread holds the ranking. */
  async *ranked(rankedQuery: RankedQuery, range: SeqRange): LogRead<Seq> {
    const { textQuery, facets, skip, limit } = rankedQuery;
    this.#lastResults += 1;
    const results = this.#lastResults;
    let last: Seq | undefined;
    let left = limit;
    let query: RankedMatchQuery | undefined = { textQuery, facets, ...range, skip, limit };
    try {
      for (;;) {
        const { ranked } = await this.#request({ ranked: { results, query } });
        query = undefined;
        const { seqs, more } = ranked ?? NO_RESULTS;
        for (const seq of seqs) yield (last = seq);
        left -= seqs.length;
        if (!more || left === 0) return { last, more };
      }
    } finally {
      if (!this.#closed)
        this.#port.postMessage({ endOfResults: results } satisfies FromQueryClient);
    }
  }

  close(): void {
    this.#closed = true;
    for (const { reject } of this.#pending.values()) reject(unavailable());
    this.#pending.clear();
    this.#port.close();
  }

  #request(request: Omit<QueryRequest, 'id'>): Promise<QueryResponse> {
    if (this.#closed) throw unavailable();
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#port.postMessage({ id, ...request } satisfies FromQueryClient);
    });
  }
}

function unavailable(): GatewayError {
  return new GatewayError(
    'unavailable',
    'Cannot search now: the search index cannot be read. Try again in a moment, or without "q".',
  );
}
