/**
 * The thread of the full-text index: follows the log with a small lag, many entries at a time, and
 * answers queries of the other threads.
 */
import { existsSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';

import { GatewayError } from '@open-presence/protocol';

import { causeOf, isStorageFault, StorageFault } from '../../../storage-fault.ts';
import { removeDatabase } from '../database.ts';
import { StoreThread } from '../store-thread.ts';
import type { FromQueryClient, QueryRequest, QueryResponse } from './messages.ts';
import { QueryEngine } from './query-engine.ts';
import type { Ranker } from './ranker.ts';
import { RankedResults } from './ranked-results.ts';
import { type SearchCost, SearchTurns } from './search-turns.ts';
import { WordIndexer } from './word-indexer.ts';
import { isCorrupt, isCorruptTable } from './words-database.ts';

/** While entries are appended, the indexer sleeps for this many times as long as it works. */
const SLEEP_FACTOR = 4;
/** A large entry is one long step: the entries after it do not wait four times as long. */
const MAX_SLEEP_MS = 2000;

/** A search of a client: its ranked results, or a page that was requested. */
interface OpenSearch {
  readonly ranker: Ranker;
  readonly ending: AbortController;
  readonly spent: SearchCost;
  readonly results: RankedResults | undefined;
}

type OpenSearches = Map<number, OpenSearch>;

const thread = new StoreThread();
const { paths, shared, clients } = thread;
let index: { readonly indexer: WordIndexer; readonly engine: QueryEngine } | undefined;
/** Whether the index must be made again. */
let isDamaged = false;
const turns = new SearchTurns();

thread.serve((client) => {
  const open: OpenSearches = new Map();
  client.on('message', (message: FromQueryClient) => {
    if ('endOfSearch' in message) endSearch(open, message.endOfSearch);
    else void respond(client, open, message);
  });
  const endAll = (): void => {
    for (const search of open.keys()) endSearch(open, search);
  };
  client.on('close', endAll);
  // A stop waits for no search.
  thread.signal.addEventListener('abort', endAll);
});
await thread.repeat(indexNext, (fault) => {
  if (isCorrupt(fault)) isDamaged = true;
  // A query may have found the damage meanwhile.
  if (fault !== undefined || !isDamaged) thread.report('search', fault && causeOf(fault));
});
closeIndex();
thread.close();

async function indexNext(): Promise<void> {
  if (isDamaged) {
    closeIndex();
    removeDatabase(paths.search);
    isDamaged = false;
  }
  index ??= openIndex();
  const { searched, head } = shared;
  if (searched >= head) {
    thread.report('derived', undefined);
    return await thread.headMoved(head);
  }
  const started = performance.now();
  await index.indexer.step(thread.signal);
  // Let queries run; while entries are appended, leave most of the processor to the other threads.
  if (shared.head === head) await nextTick();
  else {
    const elapsed = performance.now() - started;
    await thread.sleep(Math.min(MAX_SLEEP_MS, SLEEP_FACTOR * elapsed));
  }
}

function openIndex(): NonNullable<typeof index> {
  const indexer = new WordIndexer(paths, shared, (fault) =>
    thread.report('derived', causeOf(fault)),
  );
  try {
    return { indexer, engine: new QueryEngine(paths, shared) };
  } catch (error) {
    indexer.close();
    throw error;
  }
}

async function respond(
  client: MessagePort,
  open: OpenSearches,
  request: QueryRequest,
): Promise<void> {
  const id = request.search;
  const current = index;
  let search: OpenSearch | undefined;
  const send = (response: Omit<QueryResponse, 'search' | 'cost'>): void => {
    const cost = search?.spent.cost ?? 0;
    client.postMessage({ search: id, cost, ...response } satisfies QueryResponse);
  };
  try {
    if (current === undefined) throw new StorageFault('The full-text index is not open.');
    search = openSearch(current.engine, open, request);
    const { ending, spent, results } = search;
    if (results !== undefined) {
      send({ ranked: await turns.run(results.nextPage(), spent, ending.signal) });
    } else if (request.page !== undefined) {
      send({ page: await turns.run(current.engine.page(request.page), spent, ending.signal) });
      endSearch(open, id);
    }
  } catch (error) {
    if (search?.ending.signal.aborted === true) return;
    endSearch(open, id);
    // An index that has been closed meanwhile has been reported already.
    const isClosed = current !== index || index === undefined || !clients.has(client);
    const isFault = isStorageFault(error);
    if (isClosed || isFault || error instanceof GatewayError) send({ unavailable: true });
    else send({ error });
    if (isClosed || !isFault) return;
    thread.report('search', causeOf(error));
    // With facets, the error may be of another database.
    const hasFacets = (request.page ?? request.ranked)?.facets.length !== 0;
    if (!existsSync(paths.search) || (isCorrupt(error) && (!hasFacets || isCorruptTable(error)))) {
      isDamaged = true;
      shared.wakeWaiters();
    }
  }
}

function openSearch(
  { ranker }: QueryEngine,
  open: OpenSearches,
  { search: id, page, ranked, cost = 0 }: QueryRequest,
): OpenSearch {
  const existing = open.get(id);
  if (existing?.ranker === ranker) return existing;
  if (page === undefined && ranked === undefined) {
    throw new StorageFault('The full-text index was opened again.');
  }
  const results = ranked && new RankedResults(ranker, ranked);
  const search = { ranker, ending: new AbortController(), spent: { cost }, results };
  open.set(id, search);
  return search;
}

function endSearch(open: OpenSearches, id: number): void {
  const search = open.get(id);
  open.delete(id);
  search?.ending.abort();
  search?.results?.[Symbol.dispose]();
}

function closeIndex(): void {
  index?.engine.close();
  index?.indexer.close();
  index = undefined;
}
