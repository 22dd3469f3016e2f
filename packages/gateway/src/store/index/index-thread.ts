/**
 * The thread of the index: follows the log with a small lag, many entries at a time, takes withheld entries out of
 * the index, and answers text queries of the other threads. What waits is woken; nothing is looked at again and
 * again.
 */
import { setImmediate as nextTick } from 'node:timers/promises';

import { assertStorageFault, causeOf, type FaultCause, StorageFault } from '../../storage-fault.ts';
import type { Seq } from '../../log/log.ts';
import { answerCall } from '../../thread-call.ts';
import { isSpoiled, openForReading, readMeta, removeDatabase } from '../database.ts';
import { RowReader } from '../log/row-reader.ts';
import { flushFolder } from '../prepare-folder.ts';
import { StoreThread } from '../store-thread.ts';
import { unerased } from '../withholding/withheld-table.ts';
import { IndexReader } from './index-database.ts';
import { IndexWriter } from './index-writer.ts';
import type { FromReader } from './search-calls.ts';
import { SearchServer } from './search-server.ts';

/** Entries are indexed together after this delay. */
const BATCH_DELAY_MS = 250;
/** Index more entries per transaction while other threads get as much time. */
const BUSY_ENTRIES = 2048;

const thread = new StoreThread();
const { paths, shared } = thread;
const database = openForReading(paths.log, 256);
const log = new RowReader(database);
const source = { paths, shared, log, logId: String(readMeta(database, 'name') ?? '') };
const reader = new IndexReader(paths, shared, onSpoiled);
const searching = { index: reader, shared, withheld: log.withheld };
let writer: IndexWriter | undefined;
/** The version of the index that is not what was written. */
let spoiled: number | undefined;
let woken = Promise.withResolvers<void>();
let isWatching = false;
/** When the next entries are indexed at the earliest. Undefined if there are none. */
let dueAt: number | undefined;
/** What is being erased: all cases up to the last one. */
let erasing: { readonly last: number; readonly steps: Generator<void> } | undefined;

try {
  // What was withheld before a kill is found by nobody from the start on.
  followCases();
  // If more entries than a part has are not indexed, reading the log instead would take long.
  const index = opened();
  while (behind() >= shared.partSize) {
    index.add(shared.head);
    shared.indexed = index.position;
    while (index.work());
  }
} catch (error) {
  assertStorageFault(error);
  onOutcome(error);
}
// What was said before the last stop has waited long enough.
if (behind() > 0) dueAt = performance.now();
thread.signal.addEventListener('abort', wake);
thread.serve((client) => {
  const searches = new SearchServer(searching);
  const endSearches = (): void => searches.endAll();
  client.on('close', endSearches);
  thread.signal.addEventListener('abort', endSearches);
  client.on('message', (message: FromReader) => {
    if ('call' in message) void answerCall(client, message, searches);
    else if ('endOfSearch' in message) searches.end(message.endOfSearch);
    else if ('callerEndedOf' in message) searches.callerEnded(message.callerEndedOf);
    else if ('staleFrame' in message) renewFrame(message.staleFrame);
    else onSpoiled(message.spoiledIndex);
  });
});
await thread.repeat(next, onOutcome);
reader[Symbol.dispose]();
writer?.[Symbol.dispose]();
database.close();
thread.close();

function wake(): void {
  woken.resolve();
}

function behind(): number {
  return shared.head - shared.indexed;
}

function opened(): IndexWriter {
  if (writer === undefined) {
    writer = IndexWriter.open(source);
    shared.indexVersion += 1;
    shared.indexed = writer.position;
  }
  return writer;
}

function onSpoiled(version: number): void {
  spoiled = version;
  wake();
}

/** Removes a spoiled index. Readers read the log until it is indexed again. */
function removeSpoiled(): void {
  if (spoiled !== shared.indexVersion || writer === undefined) return;
  removeIndex({ code: 'CHANGED', message: `"${paths.index}" has changed.` });
}

function renewFrame(number: number): void {
  try {
    writer?.renewFrame(number);
    wake();
  } catch (error) {
    assertStorageFault(error);
    onOutcome(error);
  }
}

function removeIndex(cause: FaultCause): void {
  shared.indexed = 0;
  writer?.[Symbol.dispose]();
  writer = undefined;
  removeDatabase(paths.index);
  flushFolder(paths.folder);
  erasing = undefined;
  shared.derivedErased = shared.derivedWithheld;
  thread.report('derived', cause);
  thread.report('derived', undefined);
}

function onOutcome(fault?: Error): void {
  thread.report('index', fault && causeOf(fault));
  shared.searchFailing = fault !== undefined;
  if (fault !== undefined && isSpoiled(fault)) onSpoiled(shared.indexVersion);
}

/** Takes the next short step of the thread's work, or waits until there is work. */
async function next(): Promise<void> {
  woken = Promise.withResolvers();
  removeSpoiled();
  followCases();
  const isErasing = erase();
  if (follow(opened()) || isErasing || opened().work()) await nextTick();
  else await untilWoken();
}

/** Leaves out what is withheld or hidden now, before readers are told, and has again what is shown. */
function followCases(): void {
  const last = shared.withheldInLog;
  if (shared.derivedWithheld === last) return;
  unlessFull(() => opened().followCases());
  shared.derivedWithheld = last;
}

/** Erases some of what is withheld. Returns whether there may be more. */
function erase(): boolean {
  const last = shared.derivedWithheld;
  if (shared.derivedErased === last) return false;
  unlessFull(() => {
    erasing ??= { last, steps: opened().erase(unerasedUpTo(last)) };
    try {
      if (erasing.steps.next().done !== true) return;
    } catch (error) {
      erasing = undefined;
      throw error;
    }
    shared.derivedErased = erasing.last;
    erasing = undefined;
  });
  return shared.derivedErased !== last;
}

/** What was listed since is not left out yet. */
function unerasedUpTo(last: number): Seq[] {
  return unerased(database).flatMap(({ number, seq }) => (number <= last ? [seq] : []));
}

/** On a full disk, nothing can be taken out of the index, but all of it can be removed. */
function unlessFull(work: () => void): void {
  try {
    work();
  } catch (error) {
    assertStorageFault(error);
    if (error instanceof StorageFault) throw error;
    removeIndex(causeOf(error));
  }
}

/** Indexes the next entries if they are due. Returns whether it did. */
function follow(index: IndexWriter): boolean {
  const started = performance.now();
  if (behind() > 0) dueAt ??= started + (behind() < BUSY_ENTRIES ? BATCH_DELAY_MS : 0);
  if (dueAt === undefined || started < dueAt) return false;
  const { head } = shared;
  if (behind() > 0) index.add(head);
  shared.indexed = index.position;
  const ended = performance.now();
  dueAt = undefined;
  if (behind() > 0 && shared.head !== head) dueAt = ended + (ended - started);
  else if (behind() > 0) dueAt = ended;
  return true;
}

async function untilWoken(): Promise<void> {
  const timer =
    dueAt === undefined ? undefined : setTimeout(wake, Math.max(0, dueAt - performance.now()));
  if (timer === undefined && !isWatching) void watch();
  await woken.promise;
  clearTimeout(timer);
}

async function watch(): Promise<void> {
  const { head, withheldInLog } = shared;
  isWatching = true;
  if (behind() <= 0 && shared.derivedErased === withheldInLog) await shared.headMoved(head);
  isWatching = false;
  wake();
}
