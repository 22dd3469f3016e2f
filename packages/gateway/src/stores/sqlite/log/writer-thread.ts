/** The writer's thread: commits the batches that have arrived in one transaction, and answers each. */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

import { causeOf, type FaultCause } from '../../../storage-fault.ts';
import { StoreThread } from '../store-thread.ts';
import {
  type AppendResponse,
  type PackedDraft,
  packResults,
  type ToWriter,
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
const writer = new Writer(thread.paths, shared, (report) => thread.reportClock(report));
const waiting: Batch[] = [];
/** Why uploads could not be written by the thread that reported last. */
let uploadFault: FaultCause | undefined;
const probing = setInterval(probe, PROBE_INTERVAL_MS);

thread.signal.addEventListener('abort', () => {
  storeAll();
  clearInterval(probing);
  writer.close();
  thread.close();
});
reportState();
thread.serve((client) => {
  client.on('message', (message: ToWriter) => {
    receive(client, message);
    storeAll();
  });
});

function storeAll(): void {
  for (;;) {
    for (const client of clients) {
      for (let next = receiveMessageOnPort(client); next; next = receiveMessageOnPort(client))
        receive(client, next.message as ToWriter);
    }
    if (waiting.length === 0) return;
    store(waiting.splice(0));
  }
}

function receive(client: MessagePort, message: ToWriter): void {
  if ('uploadFault' in message) {
    ({ uploadFault } = message);
    reportState();
    return;
  }
  const { batch, drafts } = message;
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

/** Reports what has changed. */
function reportState(): void {
  thread.report('storing', writer.fault && causeOf(writer.fault));
  thread.report('lastCommit', writer.lastCommitFault && causeOf(writer.lastCommitFault));
  thread.report('uploads', writer.uploadFault ? causeOf(writer.uploadFault) : uploadFault);
}

function probe(): void {
  writer.checkClock();
  if (shared.writable) writer.checkFiles();
  else writer.probe();
  reportState();
}
