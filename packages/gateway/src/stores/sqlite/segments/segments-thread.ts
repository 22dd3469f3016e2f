/**
 * The thread of the segments: follows the log with a small lag, many entries at a time, makes and checks what
 * is derived from it, answers text queries of the other threads, and verifies the log in the background.
 * What waits is woken; nothing is looked at again and again, but for the verification, at its pace.
 */
import { setImmediate as nextTick } from 'node:timers/promises';

import { assertStorageFault, causeOf } from '../../../storage-fault.ts';
import { DamageRegistry } from '../damage/damage-registry.ts';
import { Scrubber, scrubProgress, storeScrubProgress } from '../damage/scrubber.ts';
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

/** Verifying the log takes 1 in 1000 of the thread's time: about a million small entries an hour. */
const SCRUB_SHARE = 1000;
const MIN_SCRUB_PAUSE_MS = 2000;
/** On a busy machine, a step takes longer than it costs. */
const MAX_SCRUB_PAUSE_MS = 10_000;
/** How often the progress is stored, and how often at most a complete pass is reported. */
const STORE_SCRUB_MS = 60_000;
const REPORT_SCRUB_MS = 3_600_000;
/** How often the files of unreadable entries are looked at again, if there are any. */
const RECHECK_MS = 1000;

/** Whether a segment has a name of the authors of these entries. */
const NAMES = 'SELECT 1 FROM answered WHERE seq IN (SELECT value FROM json_each(?)) LIMIT 1';

const thread = new StoreThread();
const { paths, shared } = thread;
const database = openForReading(paths.log, 256);
const log = new RowReader(database);
const damage = new DamageRegistry(thread, database);
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
  hasDamaged: (from, to) => damage.hasBetween(from, to),
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

const scrubbed = scrubProgress(paths.folder);
const scrubber = new Scrubber(thread, damage, scrubbed?.at ?? 0);
let completed = scrubbed?.completed ?? 0;
let storedAt = performance.now();
let reportedAt = -Infinity;

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
const aborted = new Promise<void>((resolve) => {
  thread.signal.addEventListener('abort', () => resolve());
});
void aborted.then(wake);
thread.serve((client) => {
  damage.addClient(client);
  const searches = new SearchServer(searching);
  const endSearches = (): void => searches.endAll();
  client.on('close', endSearches);
  thread.signal.addEventListener('abort', endSearches);
  client.on('message', (message: FromReader) => {
    if ('call' in message) void answerCall(client, message, searches);
    else if ('endOfSearch' in message) searches.end(message.endOfSearch);
    else if ('callerEndedOf' in message) searches.callerEnded(message.callerEndedOf);
    else {
      if ('unreadable' in message) damage.add(message.unreadable);
      else if ('spoiled' in message) segments.report(message.spoiled);
      else chunks.want(message.wanted);
      wake();
    }
  });
});
await Promise.all([
  thread.repeat(next, onOutcome),
  thread.repeat(recheck, () => {}),
  thread.repeat(scrub, () => {}),
]);
try {
  await segments.close();
  storeScrub();
} catch (error) {
  // The next start makes again what was not closed.
  assertStorageFault(error);
}
scrubber.close();
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

/** Looks again at the files of entries that could not be read. */
async function recheck(): Promise<void> {
  await Promise.race([damage.any(), aborted]);
  if (!thread.signal.aborted) await thread.sleep(RECHECK_MS);
  chunks.removeWith(await damage.recheck(thread.signal));
}

/** Verifies some entries on the disk, and the segment that it has just passed. */
async function scrub(): Promise<void> {
  const started = performance.now();
  const { at } = scrubber;
  const { head } = shared;
  const isWhole = await scrubber.step(thread.signal);
  if (isWhole) passCompleted();
  thread.metrics?.recordScrub(isWhole ? head : scrubber.at, completed);
  const number = shared.segments.numberOf(at);
  if (at > 0 && number !== shared.segments.numberOf(scrubber.at)) await verifySegment(number);
  if (started - storedAt > STORE_SCRUB_MS) storeScrub();
  const elapsed = performance.now() - started;
  const paused = Math.min(MAX_SCRUB_PAUSE_MS, elapsed * (SCRUB_SHARE - 1));
  await thread.sleep(Math.max(MIN_SCRUB_PAUSE_MS, paused));
}

async function verifySegment(number: number): Promise<void> {
  for await (const _ of segments.verify(number)) thread.signal.throwIfAborted();
  for (const _ of chunks.check(number)) {
    await nextTick();
    thread.signal.throwIfAborted();
  }
}

function passCompleted(): void {
  completed = Date.now();
  const now = performance.now();
  if (now - reportedAt < REPORT_SCRUB_MS) return;
  reportedAt = now;
  thread.send({ verified: shared.head });
}

function storeScrub(): void {
  storedAt = performance.now();
  storeScrubProgress(paths, { at: scrubber.at, completed });
}
