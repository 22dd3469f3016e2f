/** The writer's thread: commits the batches that have arrived together, and answers each. */
import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from 'node:worker_threads';

import { OUTCOME_WIDTH, OUTCOMES, type Packed, unpack } from './batch.ts';
import type { DataPaths } from '../schema.ts';
import { Shared } from '../shared.ts';
import { type Result, Writer } from './writer.ts';

export interface WriterStart {
  readonly places: DataPaths;
  readonly shared: SharedArrayBuffer;
  /** Says to the indexer that the head has moved. */
  readonly index: MessagePort;
}
/** What a thread that appends sends through its own port, and what comes back. */
export interface ToAppend {
  readonly batch: number;
  readonly drafts: ArrayBuffer;
}
export interface FromAppend {
  readonly batch: number;
  readonly results: Float64Array;
}
export type ToWriter = /** The port of a thread that appends. */ MessagePort | 'close';
export type FromWriter =
  | 'ready'
  /** Sent each time it changes. */
  | { readonly writable: boolean };

interface Batch {
  readonly from: MessagePort;
  readonly batch: number;
  readonly drafts: Packed[];
}

const PROBE_EVERY_MS = 500;

const start = workerData as WriterStart;
const port = parentPort;
if (port === null) throw new Error('The writer runs in a thread of its own.');
const shared = new Shared(start.shared);
const writer = new Writer(start.places, shared);
const clients = new Set<MessagePort>();
const waiting: Batch[] = [];
let reported = shared.writable;
let wakeIndexer = true;
let probing = shared.writable ? undefined : setInterval(probe, PROBE_EVERY_MS);

start.index.on('message', () => {
  wakeIndexer = true;
  wake();
});
start.index.unref();
port.on('message', (message: ToWriter) => {
  if (message === 'close') close();
  else serve(message);
});
port.postMessage('ready' satisfies FromWriter);

function serve(client: MessagePort): void {
  clients.add(client);
  client.on('close', () => clients.delete(client));
  client.on('message', (message: ToAppend) => {
    receive(client, message);
    storeAll();
  });
}

/** What came before is stored first. */
function close(): void {
  storeAll();
  clearInterval(probing);
  for (const client of clients) client.close();
  writer.close();
  start.index.close();
  port?.close();
}

function storeAll(): void {
  for (;;) {
    for (const client of clients) {
      for (let more = next(client); more !== undefined; more = next(client)) receive(client, more);
    }
    if (waiting.length === 0) return;
    store(waiting.splice(0));
  }
}

function next(client: MessagePort): ToAppend | undefined {
  return receiveMessageOnPort(client)?.message as ToAppend | undefined;
}

function receive(from: MessagePort, { batch, drafts }: ToAppend): void {
  waiting.push({ from, batch, drafts: unpack(drafts) });
}

function store(batches: readonly Batch[]): void {
  const results = writer.commit(batches.flatMap(({ drafts }) => drafts));
  let from = 0;
  for (const batch of batches) {
    answer(batch, results.slice(from, (from += batch.drafts.length)));
  }
  tell();
  wake();
}

/** Says whether entries can be stored, where that has changed, and looks out for it to change. */
function tell(): void {
  const { writable } = shared;
  if (writable === reported) return;
  reported = writable;
  port?.postMessage({ writable } satisfies FromWriter);
  clearInterval(probing);
  if (!writable) probing = setInterval(probe, PROBE_EVERY_MS);
}

function answer({ from, batch }: Batch, results: readonly Result[]): void {
  const numbers = new Float64Array(results.length * OUTCOME_WIDTH);
  for (const [index, { outcome, seq, time, salt }] of results.entries()) {
    const at = index * OUTCOME_WIDTH;
    numbers[at] = OUTCOMES.indexOf(outcome);
    numbers[at + 1] = seq;
    numbers[at + 2] = time;
    numbers[at + 3] = salt;
  }
  from.postMessage({ batch, results: numbers } satisfies FromAppend, [numbers.buffer]);
}

function probe(): void {
  if (!shared.writable) writer.probe();
  tell();
}

/** One message until the indexer has caught up: it is busy enough without our telling. */
function wake(): void {
  if (!wakeIndexer || shared.head === shared.indexed) return;
  wakeIndexer = false;
  start.index.postMessage(null);
}
