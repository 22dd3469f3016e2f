/**
 * The writer's thread: commits the batches that have arrived in one transaction, and answers each.
 * Copies of entries of another gateway are committed as they come.
 *
 * Invariant: An acknowledged entry survives the end of the process and a power cut, once, byte for
 *   byte, whatever the disk did not flush.
 * Test: `test/crash/kill.test.ts` “what was acknowledged outlives crashes …”
 * Test: `test/crash/power/power.test.ts` “what was acknowledged outlives power cuts …” “power cuts
 *   take acknowledged entries from a log that is not flushed”
 * Test: `test/crash/unordered.test.ts` “…: what was acknowledged outlives a power cut”
 * Test: `test/oracle/oracle.test.ts` “a gateway agrees with the model …”
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

import type { StoreMetrics } from '../../metrics/store-metrics.ts';
import { assertStorageFault, causeOf, type FaultCause, StorageFault } from '../../storage-fault.ts';
import { answerCall, type ThreadCall } from '../../thread-call.ts';
import { isDiskFull } from '../database.ts';
import { StoreThread } from '../store-thread.ts';
import {
  type PackedDraft,
  packResults,
  sendResults,
  type ToWriter,
  unpackDrafts,
  type WriteResult,
} from '../../log/packed-drafts.ts';
import { type CopyRequest, type CopyResponse, copiesIn } from '../replica/copy-batch.ts';
import type { CasesToList, WithholdFailure, WriterCalls } from './writer-calls.ts';
import type { ApplyRequest, ApplyResponse } from '../../log/ordered-batch.ts';
import { Withholder } from '../withholding/withholder.ts';
import { Writer } from './writer.ts';

interface Batch {
  readonly client: MessagePort;
  readonly batch: number;
  readonly drafts: PackedDraft[];
}

const PROBE_INTERVAL_MS = 500;
/** How often it is looked whether the other threads have erased what they have. */
const ERASE_INTERVAL_MS = 10;

type ToWriterThread = ToWriter | ThreadCall<WriterCalls>;

const thread = new StoreThread();
const { shared, clients, metrics } = thread;
const writer = new Writer(thread.paths, shared);
const withholder = new Withholder(thread.paths, shared, writer);
const waiting: Batch[] = [];
/** Withholdings that are decided and whose end is asked for later. */
const decisions = new Map<number, Promise<number>>();
let lastDecision = 0;
let erasing: NodeJS.Timeout | undefined = setTimeout(erase);
/** Why uploads could not be written by the thread that reported last. */
let uploadFault: FaultCause | undefined;
const probing = setInterval(probe, PROBE_INTERVAL_MS);

const calls: WriterCalls = {
  withhold: async (cases) => await withhold(cases),
  decide,
  erased: endOf,
  apply,
  copy,
  erasedInStream(erased) {
    writer.erasedInStream(erased);
    reportState();
  },
};

thread.signal.addEventListener('abort', () => {
  storeAll();
  clearInterval(probing);
  clearTimeout(erasing);
  withholder.close();
  writer.close();
  thread.close();
});
reportState();
thread.serve((client) => {
  client.on('message', (message: ToWriterThread) => {
    receive(client, message);
    storeAll();
  });
});

function storeAll(): void {
  for (;;) {
    for (const client of clients) {
      for (let next = receiveMessageOnPort(client); next; next = receiveMessageOnPort(client))
        receive(client, next.message as ToWriterThread);
    }
    if (waiting.length === 0) return;
    store(waiting.splice(0));
  }
}

function receive(client: MessagePort, message: ToWriterThread): void {
  if ('uploadFault' in message) {
    ({ uploadFault } = message);
    reportState();
    return;
  }
  if ('call' in message) {
    void answerCall(client, message, calls, copiesOf);
    return;
  }
  const { batch, drafts } = message;
  waiting.push({ client, batch, drafts: unpackDrafts(drafts) });
}

function copy(request: CopyRequest): CopyResponse {
  const before = shared.head;
  const result = writer.commitCopies(copiesIn(request));
  if (writer.takeWithheld()) {
    withholder.changed();
    erasing ??= setTimeout(erase);
  }
  if (result.outcome !== 'failed') recordCopies(shared.head - before);
  reportState();
  return { result, copies: request.copies };
}

/** The buffer of copies goes back. */
function copiesOf(response: unknown): ArrayBuffer[] {
  const isCopied = typeof response === 'object' && response !== null && 'copies' in response;
  return isCopied && response.copies instanceof ArrayBuffer ? [response.copies] : [];
}

/** What was sent before is stored first: it may be withheld with this request. */
function withhold(all: readonly CasesToList[]): Promise<number> | WithholdFailure {
  if (waiting.length > 0) store(waiting.splice(0));
  const now = writer.now();
  try {
    if (!shared.writable && !writer.isFull) throw new StorageFault('The log cannot be written.');
    const done = withholder.withhold(all.map((cases) => ({ ...cases, time: cases.time ?? now })));
    erasing ??= setTimeout(erase);
    return done;
  } catch (error) {
    assertStorageFault(error);
    return isDiskFull(error) ? 'out-of-space' : 'unavailable';
  }
}

function decide(all: readonly CasesToList[]): number | WithholdFailure {
  const done = withhold(all);
  if (typeof done === 'string') return done;
  lastDecision += 1;
  decisions.set(lastDecision, done);
  return lastDecision;
}

async function endOf(decision: number): Promise<number> {
  const count = await decisions.get(decision);
  decisions.delete(decision);
  return count ?? 0;
}

/** A step of it, until nothing is left to erase. */
function erase(): void {
  let delayMs: number | undefined = ERASE_INTERVAL_MS;
  try {
    const state = withholder.erase();
    if (state !== 'waiting') delayMs = state === 'more' ? 0 : undefined;
    thread.report('erasing', undefined);
  } catch (error) {
    assertStorageFault(error);
    thread.report('erasing', causeOf(error));
    delayMs = PROBE_INTERVAL_MS;
  }
  erasing = delayMs === undefined ? undefined : setTimeout(erase, delayMs);
}

function store(batches: readonly Batch[]): void {
  const drafts = batches.flatMap((batch) => batch.drafts);
  const results = writer.commit(drafts);
  if (metrics !== undefined) recordCommit(metrics, results);
  let from = 0;
  sendResults(
    batches.map(({ client, batch, drafts: own }) => ({
      client,
      batch,
      results: results.slice(from, (from += own.length)),
    })),
  );
  reportState();
}

function apply({ apply: packed, ...position }: ApplyRequest): ApplyResponse['applied'] {
  const batches = packed.map((batch) => ({ ...batch, drafts: unpackDrafts(batch.drafts) }));
  const results = writer.apply(batches, position);
  reportState();
  if (typeof results === 'string') return results;
  const each = results.flatMap((result) => result ?? []);
  if (metrics !== undefined) recordCommit(metrics, each);
  return results.map((result) => result && packResults(result));
}

function recordCommit(metrics: StoreMetrics, results: readonly WriteResult[]): void {
  for (const { outcome } of results) metrics.recordAppend(outcome);
  if (results.some(({ outcome }) => outcome === 'appended')) metrics.recordFlush(writer.flushMs);
}

function recordCopies(entries: number): void {
  metrics?.recordAppend('copied', entries);
  if (entries > 0) metrics?.recordFlush(writer.flushMs);
}

function reportState(): void {
  thread.report('storing', writer.fault && causeOf(writer.fault));
  thread.report('uploads', uploadFault);
}

function probe(): void {
  if (shared.writable) return;
  writer.probe();
  reportState();
}
