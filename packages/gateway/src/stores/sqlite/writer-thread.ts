/** The writer's thread: commits the batches that have arrived together, and answers each. */
import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from 'node:worker_threads';

import { OUTCOME_WIDTH, OUTCOMES, type Packed, unpack } from './batch.ts';
import type { Places } from './schema.ts';
import { Shared } from './shared.ts';
import { type Result, Writer } from './writer.ts';

export interface WriterStart {
  readonly places: Places;
  readonly shared: SharedArrayBuffer;
  /** Says to the indexer that the head has moved. */
  readonly index: MessagePort;
}
export type ToWriter = { readonly batch: number; readonly drafts: ArrayBuffer } | 'close';
export type FromWriter =
  | { readonly batch: number; readonly results: Float64Array }
  | 'ready'
  /** Whether entries can be stored, each time it changes. */
  | 'holding'
  | 'breathing';

interface Batch {
  readonly batch: number;
  readonly drafts: Packed[];
}

const PROBE_EVERY_MS = 500;

const start = workerData as WriterStart;
const port = parentPort;
if (port === null) throw new Error('The writer runs in a thread of its own.');
const shared = new Shared(start.shared);
const writer = new Writer(start.places, shared);
const waiting: Batch[] = [];
let closing = false;
let told = shared.holding;
let wakeIndexer = true;
let probing = shared.holding ? setInterval(probe, PROBE_EVERY_MS) : undefined;

start.index.on('message', () => {
  wakeIndexer = true;
  wake();
});
start.index.unref();
port.on('message', (message: ToWriter) => {
  receive(message);
  while (waiting.length > 0) {
    for (let more = next(); more !== undefined; more = next()) receive(more);
    store(waiting.splice(0));
  }
  if (!closing) return;
  clearInterval(probing);
  writer.close();
  start.index.close();
  port.close();
});
port.postMessage('ready' satisfies FromWriter);

function next(): ToWriter | undefined {
  return receiveMessageOnPort(port as MessagePort)?.message as ToWriter | undefined;
}

function receive(message: ToWriter): void {
  if (message === 'close') closing = true;
  else waiting.push({ batch: message.batch, drafts: unpack(message.drafts) });
}

function store(batches: readonly Batch[]): void {
  const results = writer.commit(batches.flatMap(({ drafts }) => drafts));
  let from = 0;
  for (const { batch, drafts } of batches) {
    answer(batch, results.slice(from, (from += drafts.length)));
  }
  tell();
  wake();
}

/** Says whether entries can be stored, where that has changed, and looks out for it to change. */
function tell(): void {
  const { holding } = shared;
  if (holding === told) return;
  told = holding;
  port?.postMessage((holding ? 'holding' : 'breathing') satisfies FromWriter);
  clearInterval(probing);
  if (holding) probing = setInterval(probe, PROBE_EVERY_MS);
}

function answer(batch: number, results: readonly Result[]): void {
  const numbers = new Float64Array(results.length * OUTCOME_WIDTH);
  for (const [index, { outcome, seq, time, salt }] of results.entries()) {
    numbers.set([OUTCOMES.indexOf(outcome), seq, time, salt], index * OUTCOME_WIDTH);
  }
  port?.postMessage({ batch, results: numbers } satisfies FromWriter, [numbers.buffer]);
}

function probe(): void {
  if (shared.holding) writer.probe();
  tell();
}

/** One message until the indexer has caught up: it is busy enough without our telling. */
function wake(): void {
  if (!wakeIndexer || shared.head === shared.indexed) return;
  wakeIndexer = false;
  start.index.postMessage(null);
}
