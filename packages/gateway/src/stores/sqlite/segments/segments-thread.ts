/**
 * The thread of the segments: follows the log with a small lag, many entries at a time, makes and checks what
 * is derived from it, and answers text queries of the other threads. What waits is woken; nothing is looked at
 * again and again.
 */
import { setImmediate as nextTick } from 'node:timers/promises';

import { assertStorageFault, causeOf } from '../../../storage-fault.ts';
import { openForReading, readMeta } from '../database.ts';
import { RowReader } from '../log/row-reader.ts';
import { WithheldRanges } from '../withholding/withheld-ranges.ts';
import { unfinished } from '../withholding/withheld-table.ts';
import { StoreThread } from '../store-thread.ts';
import { ChunkMaker } from './chunks/chunk-maker.ts';
import { answerCall } from '../../../thread-call.ts';
import type { FromReader } from './search/search-calls.ts';
import { SearchServer } from './search/search-server.ts';
import type { SearchContext } from './search/word-search.ts';
import { SegmentReader } from './segment-reader.ts';
import { Segments } from './segments.ts';

/** Entries are indexed together after this delay. */
const BATCH_DELAY_MS = 250;
/** Index more entries per transaction while other threads get as much time. */
const BUSY_ENTRIES = 2048;

/** Whether a segment has a name of the authors of these entries. */
const NAMES = 'SELECT 1 FROM answered WHERE seq IN (SELECT value FROM json_each(?)) LIMIT 1';

const thread = new StoreThread();
const { paths, shared } = thread;
const database = openForReading(paths.log, 256);
const log = new RowReader(database);
const segments = new Segments({
  paths,
  shared,
  log,
  logId: String(readMeta(database, 'name') ?? ''),
  onSpoiled: (cause) => {
    thread.report('derived', cause);
    thread.report('derived', undefined);
  },
});
const reader = new SegmentReader(paths, shared.segments, (spoiled) => {
  segments.report(spoiled);
  wake();
});
const chunks = new ChunkMaker({
  paths,
  log,
  reader,
  onSpoiled: (file) => {
    thread.report('derived', { code: 'CHECKSUM', message: `"${file}" has changed.` });
    thread.report('derived', undefined);
  },
});
const searching: SearchContext = {
  reader,
  shared,
  withheld: new WithheldRanges(database),
  available: async (number) => {
    wake();
    await segments.available(number);
  },
};
let woken = Promise.withResolvers<void>();
let isWatching = false;
/** When the next entries are indexed at the earliest. Undefined if there are none. */
let dueAt: number | undefined;

for await (const _ of segments.open());
try {
  // If more entries than a segment holds are not indexed, reading the log instead would take long.
  while (segments.behind >= shared.segments.size) segments.follow();
} catch (error) {
  assertStorageFault(error);
  onOutcome(error);
}
// What was said before the last stop has waited long enough.
if (segments.behind > 0) dueAt = performance.now();
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
    else {
      if ('spoiled' in message) segments.report(message.spoiled);
      else chunks.want(message.wanted);
      wake();
    }
  });
});
await thread.repeat(next, onOutcome);
try {
  await segments.close();
} catch (error) {
  // The next start makes again what was not closed.
  assertStorageFault(error);
}
reader[Symbol.dispose]();
database.close();
thread.close();

function wake(): void {
  woken.resolve();
}

function onOutcome(fault?: Error): void {
  thread.report('index', fault && causeOf(fault));
  shared.searchFailing = fault !== undefined;
  if (fault !== undefined) segments.failed(fault);
}

/** Takes the next short step of the thread's work, or waits until there is work. */
async function next(): Promise<void> {
  woken = Promise.withResolvers();
  await removeWithheld();
  const hasFollowed = follow();
  const hasWorked = (await segments.work()) || (!hasFollowed && (await chunks.work()));
  if (hasFollowed || hasWorked) await nextTick();
  else await untilWoken();
}

/** Readers are told after nothing derived has it. Shown entries are indexed again after that. */
async function removeWithheld(): Promise<void> {
  const last = shared.withheldInLog;
  if (shared.derivedWithheld === last) return;
  const seqs = unfinished(database).map(({ seq }) => seq);
  const listed = JSON.stringify(seqs);
  const steps = segments.removeWith(
    seqs,
    // One that cannot be read now is made again.
    (number) =>
      reader.now(number, (index) => index.statement(NAMES).get(listed) !== undefined) ?? true,
  );
  for await (const _ of steps) await nextTick();
  shared.derivedWithheld = last;
}

/** Indexes the next entries if they are due. Returns whether it did. */
function follow(): boolean {
  const started = performance.now();
  if (segments.behind > 0) {
    dueAt ??= started + (segments.behind < BUSY_ENTRIES ? BATCH_DELAY_MS : 0);
  }
  if (dueAt === undefined || started < dueAt) return false;
  const { head } = shared;
  segments.follow();
  const ended = performance.now();
  dueAt = undefined;
  if (segments.behind > 0 && shared.head !== head) dueAt = ended + (ended - started);
  else if (segments.behind > 0) dueAt = ended;
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
  if (segments.behind <= 0 && shared.derivedWithheld === withheldInLog)
    await shared.headMoved(head);
  isWatching = false;
  wake();
}
