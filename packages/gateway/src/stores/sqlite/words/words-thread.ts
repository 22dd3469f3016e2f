/**
 * The thread of the full-text index: follows the log with a small lag, many entries at a time, and
 * answers queries of the other threads.
 */
import { existsSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';

import { GatewayError } from '@open-presence/protocol';

import {
  assertStorageFault,
  causeOf,
  isStorageFault,
  StorageFault,
} from '../../../storage-fault.ts';
import { removeDatabase } from '../database.ts';
import { StoreThread } from '../store-thread.ts';
import type { FromQueryClient, QueryRequest, QueryResponse } from './messages.ts';
import { QueryEngine } from './query-engine.ts';
import type { Ranker } from './ranker.ts';
import { RankedResults } from './ranked-results.ts';
import { type SearchCost, SearchTurns } from './search-turns.ts';
import { WordIndexer } from './word-indexer.ts';
import { isCorrupt, isCorruptTable, SpoiledWords } from './words-database.ts';

/** While entries are appended, the indexer sleeps for this many times as long as it works. */
const SLEEP_FACTOR = 4;
/** A large entry is one long step: the entries after it do not wait four times as long. */
const MAX_SLEEP_MS = 2000;

/** Between two merges of some pages, once all entries are indexed. */
const MERGE_PAUSE_MS = 20;

/** What a start spends on checking the index. The rest is checked behind it. */
const MAX_START_CHECK_MS = 50;
/** Between two parts of the index, a quarter of a megabyte each, once all were checked. */
const CHECK_PAUSE_MS = 100;

/** A search of a client: its ranked results, or a page that was requested. */
interface OpenSearch {
  readonly ranker: Ranker;
  readonly ending: AbortController;
  readonly spent: SearchCost;
  readonly results: RankedResults | undefined;
}

interface OpenIndex {
  readonly indexer: WordIndexer;
  readonly engine: QueryEngine;
}

type OpenSearches = Map<number, OpenSearch>;

const thread = new StoreThread();
const { paths, shared, clients } = thread;
let index: OpenIndex | undefined;
/** Whether the index must be made again. */
let isDamaged = false;
/** Whether the whole index was checked since it was opened. */
let isChecked = false;
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
await Promise.all([
  thread.repeat(indexNext, (fault) => {
    if (isCorrupt(fault)) isDamaged = true;
    if (fault instanceof SpoiledWords) thread.report('derived', causeOf(fault));
    // A query may have found the damage meanwhile.
    else if (fault !== undefined || !isDamaged) thread.report('search', fault && causeOf(fault));
  }),
  thread.repeat(check, (fault) => {
    if (!(fault instanceof SpoiledWords)) return;
    isDamaged = true;
    shared.searched = 0;
    thread.report('derived', causeOf(fault));
    shared.wakeWaiters();
  }),
]);
try {
  closeIndex();
} catch (error) {
  // The next start finds what is wrong with the index.
  assertStorageFault(error);
}
thread.close();

/** Removes from the index what was withheld. Returns false where it has to be made again. */
async function eraseWithheld(indexer: WordIndexer): Promise<boolean> {
  const last = shared.withheldInLog;
  if (shared.wordsWithheld === last) return true;
  try {
    if (!(await indexer.erase(thread.signal))) return false;
  } catch (error) {
    assertStorageFault(error);
    // As where there is no space for a copy: making the index again needs none.
    return false;
  }
  shared.wordsWithheld = last;
  return true;
}

function removeIndex(): void {
  const last = shared.withheldInLog;
  closeIndex();
  removeDatabase(paths.search);
  isDamaged = false;
  shared.searched = 0;
  shared.wordsWithheld = last;
}

async function indexNext(): Promise<void> {
  if (isDamaged) removeIndex();
  const isNew = index === undefined;
  index ??= openChecked();
  const { indexer } = index;
  if (!(await eraseWithheld(indexer))) {
    isDamaged = true;
    return;
  }
  if (isNew) indexer.start();
  const { searched, head } = shared;
  if (searched >= head) {
    thread.report('derived', undefined);
    if (!indexer.merge()) return await thread.headMoved(head);
    return await thread.sleep(MERGE_PAUSE_MS);
  }
  const started = performance.now();
  await indexer.step(thread.signal);
  // Let queries run; while entries are appended, leave most of the processor to the other threads.
  if (shared.head === head) await nextTick();
  else {
    const elapsed = performance.now() - started;
    await thread.sleep(Math.min(MAX_SLEEP_MS, SLEEP_FACTOR * elapsed));
  }
}

/** Compares the index with its checksums: at once behind a start, then slowly, again and again. */
async function check(): Promise<void> {
  const indexer = index?.indexer;
  for (const _ of isDamaged ? [] : (indexer?.check() ?? [])) {
    await (isChecked ? thread.sleep(CHECK_PAUSE_MS) : nextTick());
    if (index?.indexer !== indexer) return;
  }
  isChecked = indexer !== undefined;
  await thread.sleep(CHECK_PAUSE_MS);
}

function openChecked(): OpenIndex {
  let opened = openIndex();
  isChecked = false;
  try {
    const started = performance.now();
    for (const _ of opened.indexer.check())
      if (performance.now() - started > MAX_START_CHECK_MS) break;
  } catch (error) {
    close(opened);
    if (!(error instanceof SpoiledWords)) throw error;
    thread.report('derived', causeOf(error));
    removeDatabase(paths.search);
    opened = openIndex();
  }
  return opened;
}

function openIndex(): OpenIndex {
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
    if (current === undefined || isDamaged)
      throw new StorageFault('The full-text index is not open.');
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
    const isClosed = current !== index || index === undefined || isDamaged || !clients.has(client);
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
  const open = index;
  // Closing it may fail, and it cannot be closed twice.
  index = undefined;
  if (open !== undefined) close(open);
}

function close({ engine, indexer }: OpenIndex): void {
  try {
    engine.close();
  } finally {
    indexer.close();
  }
}
