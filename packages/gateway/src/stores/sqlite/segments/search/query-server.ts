/** Answers the queries of clients, in the segments' thread, in fair turns. */
import type { MessagePort } from 'node:worker_threads';

import { GatewayError } from '@open-presence/protocol';

import { isStorageFault } from '../../../../storage-fault.ts';
import type { FromReader, QueryRequest, QueryResponse } from './messages.ts';
import type { QueryEngine } from './query-engine.ts';
import { RankedResults } from './ranked-results.ts';
import { type SearchCost, SearchTurns } from './search-turns.ts';

/** A search of a client: its ranked results, or a page that was requested. */
interface OpenSearch {
  readonly ending: AbortController;
  readonly spent: SearchCost;
  readonly results: RankedResults | undefined;
}

type OpenSearches = Map<number, OpenSearch>;

export class QueryServer {
  readonly #engine: QueryEngine;
  readonly #turns = new SearchTurns();

  constructor(engine: QueryEngine) {
    this.#engine = engine;
  }

  /** Aborting ends all its searches. */
  addClient(client: MessagePort, signal: AbortSignal): void {
    const open: OpenSearches = new Map();
    client.on('message', (message: FromReader) => {
      if ('endOfSearch' in message) endSearch(open, message.endOfSearch);
      else if ('search' in message) void this.#respond(client, open, message);
    });
    const endAll = (): void => {
      for (const search of open.keys()) endSearch(open, search);
    };
    client.on('close', endAll);
    signal.addEventListener('abort', endAll);
  }

  async #respond(client: MessagePort, open: OpenSearches, request: QueryRequest): Promise<void> {
    const id = request.search;
    const search = open.get(id) ?? this.#open(request);
    open.set(id, search);
    const { ending, spent, results } = search;
    const send = (response: Omit<QueryResponse, 'search' | 'cost'>): void =>
      client.postMessage({ search: id, cost: spent.cost, ...response } satisfies QueryResponse);
    try {
      if (results !== undefined)
        send({ ranked: await this.#turns.run(results.nextPage(), spent, ending.signal) });
      else if (request.page !== undefined) {
        send({
          page: await this.#turns.run(this.#engine.page(request.page), spent, ending.signal),
        });
        endSearch(open, id);
      }
    } catch (error) {
      if (ending.signal.aborted) return;
      endSearch(open, id);
      const isUnavailable = isStorageFault(error) || error instanceof GatewayError;
      send(isUnavailable ? { unavailable: true } : { error });
    }
  }

  #open({ ranked, cost = 0 }: QueryRequest): OpenSearch {
    const results = ranked && new RankedResults(this.#engine.ranker, ranked);
    return { ending: new AbortController(), spent: { cost }, results };
  }
}

function endSearch(open: OpenSearches, id: number): void {
  const search = open.get(id);
  open.delete(id);
  search?.ending.abort();
  search?.results?.[Symbol.dispose]();
}
