/** The writer's thread: commits the batches that have arrived in one transaction, and answers each. */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

import { StoreThread } from '../store-thread.ts';
import {
  type AppendRequest,
  type AppendResponse,
  type PackedDraft,
  packResults,
  unpackDrafts,
} from './batch.ts';
import { Writer } from './writer.ts';

interface Batch {
  readonly client: MessagePort;
  readonly batch: number;
  readonly drafts: PackedDraft[];
}

const PROBE_INTERVAL_MS = 500;

const thread = new StoreThread();
const { shared, clients } = thread;
const writer = new Writer(thread.paths, shared);
const waiting: Batch[] = [];
let reported = shared.writable;
let probing = shared.writable ? undefined : setInterval(probe, PROBE_INTERVAL_MS);

thread.signal.addEventListener('abort', () => {
  storeAll();
  clearInterval(probing);
  writer.close();
  thread.close();
});
thread.serve((client) => {
  client.on('message', (request: AppendRequest) => {
    receive(client, request);
    storeAll();
  });
});

function storeAll(): void {
  for (;;) {
    for (const client of clients) {
      for (let next = receiveMessageOnPort(client); next; next = receiveMessageOnPort(client))
        receive(client, next.message as AppendRequest);
    }
    if (waiting.length === 0) return;
    store(waiting.splice(0));
  }
}

function receive(client: MessagePort, { batch, drafts }: AppendRequest): void {
  waiting.push({ client, batch, drafts: unpackDrafts(drafts) });
}

function store(batches: readonly Batch[]): void {
  const results = writer.commit(batches.flatMap(({ drafts }) => drafts));
  let from = 0;
  for (const { client, batch, drafts } of batches) {
    const packed = packResults(results.slice(from, (from += drafts.length)));
    client.postMessage({ batch, results: packed } satisfies AppendResponse, [packed.buffer]);
  }
  reportState();
}

/** Reports a change of whether entries can be stored. Probes while they cannot. */
function reportState(): void {
  const { writable } = shared;
  if (writable === reported) return;
  reported = writable;
  thread.send({ writable });
  clearInterval(probing);
  if (!writable) probing = setInterval(probe, PROBE_INTERVAL_MS);
}

function probe(): void {
  if (!shared.writable) writer.probe();
  reportState();
}
