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
import type {
  FromQueryClient,
  QueryRequest,
  QueryResponse,
  RankedPage,
  RankedPageRequest,
} from './messages.ts';
import { QueryEngine } from './query-engine.ts';
import { RankedResults } from './ranked-results.ts';
import { WordIndexer } from './word-indexer.ts';
import { isCorrupt, isCorruptTable } from './words-database.ts';

/** While entries are appended, the indexer sleeps for this many times as long as it works. */
const SLEEP_FACTOR = 4;
/** A large entry is one long step: the entries after it do not wait four times as long. */
const MAX_SLEEP_MS = 2000;

/** The ranked results that a client is reading. */
type OpenResults = Map<number, RankedResults>;

const thread = new StoreThread();
const { paths, shared, clients } = thread;
let index: { readonly indexer: WordIndexer; readonly engine: QueryEngine } | undefined;
/** Whether the index must be made again. */
let isDamaged = false;

thread.serve((client) => {
  const open: OpenResults = new Map();
  client.on('message', (message: FromQueryClient) => {
    if ('endOfResults' in message) disposeResults(open, message.endOfResults);
    else void respond(client, open, message);
  });
  client.on('close', () => {
    for (const id of open.keys()) disposeResults(open, id);
  });
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
  if (searched >= head) return await thread.headMoved(head);
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
  const indexer = new WordIndexer(paths, shared);
  try {
    return { indexer, engine: new QueryEngine(paths, shared) };
  } catch (error) {
    indexer.close();
    throw error;
  }
}

async function respond(
  client: MessagePort,
  open: OpenResults,
  { id, page, ranked }: QueryRequest,
): Promise<void> {
  const send = (response: Omit<QueryResponse, 'id'>): void =>
    client.postMessage({ id, ...response } satisfies QueryResponse);
  const current = index;
  try {
    if (current === undefined) throw new StorageFault('The full-text index is not open.');
    const { engine } = current;
    if (page !== undefined) send({ page: engine.page(page) });
    if (ranked !== undefined) send({ ranked: await rankedPage(engine, open, ranked) });
  } catch (error) {
    // An index that has been closed meanwhile has been reported already.
    const isClosed = current !== index || index === undefined || !clients.has(client);
    const isFault = isStorageFault(error);
    if (isClosed || isFault || error instanceof GatewayError) send({ unavailable: true });
    else send({ error });
    if (isClosed || !isFault) return;
    thread.report('search', causeOf(error));
    // With facets, the error may be of another database.
    const hasFacets = (page ?? ranked?.query)?.facets.length !== 0;
    if (!existsSync(paths.search) || (isCorrupt(error) && (!hasFacets || isCorruptTable(error)))) {
      isDamaged = true;
      shared.wakeWaiters();
    }
  }
}

async function rankedPage(
  engine: QueryEngine,
  open: OpenResults,
  { results: id, query }: RankedPageRequest,
): Promise<RankedPage> {
  if (query !== undefined) open.set(id, new RankedResults(engine.ranker, query));
  const results = open.get(id);
  if (results === undefined) throw new Error('The results have been disposed of.');
  return await results.nextPage();
}

function disposeResults(open: OpenResults, id: number): void {
  open.get(id)?.[Symbol.dispose]();
  open.delete(id);
}

function closeIndex(): void {
  index?.engine.close();
  index?.indexer.close();
  index = undefined;
}
