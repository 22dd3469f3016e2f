/** The writer's thread: commits the batches that have arrived in one transaction, and answers each. */
import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from 'node:worker_threads';

import { SharedState } from '../shared-state.ts';
import { type PackedDraft, packResults, unpackDrafts, type WriteResult } from './batch.ts';
import type {
  AppendRequest,
  AppendResponse,
  FromWriter,
  ToWriter,
  WriterStart,
} from './messages.ts';
import { Writer } from './writer.ts';

interface Batch {
  readonly client: MessagePort;
  readonly batch: number;
  readonly drafts: PackedDraft[];
}

const PROBE_INTERVAL_MS = 500;

const start = workerData as WriterStart;
const port = parentPort;
if (port === null) throw new Error('The writer must run in a worker thread.');
const shared = new SharedState(start.shared);
const writer = new Writer(start.paths, shared);
const clients = new Set<MessagePort>();
const waiting: Batch[] = [];
let reported = shared.writable;
let indexerIsIdle = true;
let probing = shared.writable ? undefined : setInterval(probe, PROBE_INTERVAL_MS);

start.indexer.on('message', () => {
  indexerIsIdle = true;
  wakeIndexer();
});
start.indexer.unref();
port.on('message', (message: ToWriter) => {
  if (message === 'close') close();
  else addClient(message);
});
port.postMessage('ready' satisfies FromWriter);

function addClient(client: MessagePort): void {
  clients.add(client);
  client.on('close', () => clients.delete(client));
  client.on('message', (request: AppendRequest) => {
    receive(client, request);
    storeAll();
  });
}

/** Stores what has arrived first. */
function close(): void {
  storeAll();
  clearInterval(probing);
  for (const client of clients) client.close();
  writer.close();
  start.indexer.close();
  port?.close();
}

function storeAll(): void {
  for (;;) {
    for (const client of clients) {
      for (let next = nextOf(client); next !== undefined; next = nextOf(client)) {
        receive(client, next);
      }
    }
    if (waiting.length === 0) return;
    store(waiting.splice(0));
  }
}

function nextOf(client: MessagePort): AppendRequest | undefined {
  return receiveMessageOnPort(client)?.message as AppendRequest | undefined;
}

function receive(client: MessagePort, { batch, drafts }: AppendRequest): void {
  waiting.push({ client, batch, drafts: unpackDrafts(drafts) });
}

function store(batches: readonly Batch[]): void {
  const results = writer.commit(batches.flatMap(({ drafts }) => drafts));
  let from = 0;
  for (const batch of batches) {
    respond(batch, results.slice(from, (from += batch.drafts.length)));
  }
  reportState();
  wakeIndexer();
}

function respond({ client, batch }: Batch, results: readonly WriteResult[]): void {
  const packed = packResults(results);
  client.postMessage({ batch, results: packed } satisfies AppendResponse, [packed.buffer]);
}

/** Reports a change of whether entries can be stored. Probes while they cannot. */
function reportState(): void {
  const { writable } = shared;
  if (writable === reported) return;
  reported = writable;
  port?.postMessage({ writable } satisfies FromWriter);
  clearInterval(probing);
  if (!writable) probing = setInterval(probe, PROBE_INTERVAL_MS);
}

function probe(): void {
  if (!shared.writable) writer.probe();
  reportState();
}

/** Sends one message, then none until the indexer has caught up. */
function wakeIndexer(): void {
  if (!indexerIsIdle || shared.head === shared.indexed) return;
  indexerIsIdle = false;
  start.indexer.postMessage(null);
}
