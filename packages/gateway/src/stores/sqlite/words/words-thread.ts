/**
 * The thread of the full-text index: follows the log with a small lag, many entries at a time, and
 * answers queries of the other threads.
 */
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { GatewayError } from '@open-presence/protocol';

import { removeDatabase } from '../database.ts';
import { SharedState } from '../shared-state.ts';
import type {
  FromQueryClient,
  FromWords,
  QueryRequest,
  QueryResponse,
  RankedPage,
  RankedPageRequest,
  ToWords,
  WordsStart,
} from './messages.ts';
import { QueryEngine } from './query-engine.ts';
import { RankedResults } from './ranked-results.ts';
import { WordIndexer } from './word-indexer.ts';
import { isCorrupt, isCorruptTable } from './words-database.ts';

/** Entries are indexed together after this delay. */
const BATCH_DELAY_MS = 250;
const RETRY_DELAY_MS = 1000;
/** While entries are appended, the indexer sleeps for this many times as long as it works. */
const SLEEP_FACTOR = 4;
/** A large entry is one long step: the entries after it do not wait four times as long. */
const MAX_SLEEP_MS = 2000;

const start = workerData as WordsStart;
const port = parentPort;
if (port === null) throw new Error('The full-text index must run in a worker thread.');
const shared = new SharedState(start.shared);
const closing = new AbortController();
const { signal } = closing;
let index: { readonly indexer: WordIndexer; readonly engine: QueryEngine } | undefined;
/** The ranked results that each client is reading. */
const clients = new Map<MessagePort, Map<number, RankedResults>>();
/** The failure that was reported last. */
let reported: string | undefined;
/** An error that a query has had, if it means that the file is damaged. */
let damage: Error | undefined;

port.on('message', (message: ToWords) => {
  if (message === 'close') {
    closing.abort();
    shared.wakeWaiters();
  } else addClient(message);
});
port.postMessage('ready' satisfies FromWords);
await followLog();
closeIndex();
for (const client of clients.keys()) client.close();
port.close();

function addClient(client: MessagePort): void {
  const results = new Map<number, RankedResults>();
  clients.set(client, results);
  client.on('message', (message: FromQueryClient) => {
    if ('endOfResults' in message) disposeResults(results, message.endOfResults);
    else void respond(client, message);
  });
  client.on('close', () => {
    for (const id of results.keys()) disposeResults(results, id);
    clients.delete(client);
  });
}

async function followLog(): Promise<void> {
  while (!signal.aborted) {
    try {
      await indexNext();
      report(undefined);
    } catch (error) {
      if (signal.aborted) return;
      report(String(error));
      if (isCorrupt(error)) {
        closeIndex();
        removeDatabase(start.paths.search);
      }
      await sleep(RETRY_DELAY_MS, undefined, { signal }).catch(() => {});
    }
  }
}

function report(failure: string | undefined): void {
  if (failure !== reported) port?.postMessage({ failure } satisfies FromWords);
  reported = failure;
}

async function indexNext(): Promise<void> {
  if (damage !== undefined) {
    const error = damage;
    damage = undefined;
    throw error;
  }
  index ??= openIndex();
  const { searched, head } = shared;
  if (searched >= head) {
    await shared.headMoved(head);
    await sleep(BATCH_DELAY_MS, undefined, { signal });
    return;
  }
  const started = performance.now();
  await index.indexer.step(signal);
  // Let queries run; while entries are appended, leave most of the processor to the other threads.
  if (shared.head === head) await nextTick();
  else {
    const elapsed = performance.now() - started;
    await sleep(Math.min(MAX_SLEEP_MS, SLEEP_FACTOR * elapsed), undefined, { signal });
  }
}

function openIndex(): NonNullable<typeof index> {
  const indexer = new WordIndexer(start.paths, shared);
  try {
    return { indexer, engine: new QueryEngine(start.paths, shared) };
  } catch (error) {
    indexer.close();
    throw error;
  }
}

async function respond(client: MessagePort, { id, page, ranked }: QueryRequest): Promise<void> {
  const send = (response: Omit<QueryResponse, 'id'>): void =>
    client.postMessage({ id, ...response } satisfies QueryResponse);
  const current = index;
  try {
    if (current === undefined) throw new Error('The full-text index is not open.');
    const { engine } = current;
    if (page !== undefined) send({ page: engine.page(page) });
    if (ranked !== undefined) send({ ranked: await rankedPage(engine, client, ranked) });
  } catch (error) {
    send({ error: String(error) });
    // An index that has been closed meanwhile has been reported already.
    if (current !== index || index === undefined || !clients.has(client)) return;
    if (error instanceof GatewayError) return;
    // With facets, the error may be of another database.
    const hasFacets = (page ?? ranked?.query)?.facets.length !== 0;
    if (isCorrupt(error) && (!hasFacets || isCorruptTable(error))) {
      damage = error as Error;
      shared.wakeWaiters();
    } else report(String(error));
  }
}

async function rankedPage(
  engine: QueryEngine,
  client: MessagePort,
  { results: id, query }: RankedPageRequest,
): Promise<RankedPage> {
  const open = clients.get(client);
  if (query !== undefined) open?.set(id, new RankedResults(engine, query));
  const results = open?.get(id);
  if (results === undefined) throw new Error('The results have been disposed of.');
  return await results.nextPage();
}

function disposeResults(open: Map<number, RankedResults>, id: number): void {
  open.get(id)?.[Symbol.dispose]();
  open.delete(id);
}

function closeIndex(): void {
  index?.engine.close();
  index?.indexer.close();
  index = undefined;
}
