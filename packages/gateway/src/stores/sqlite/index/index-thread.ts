/**
 * The indexer's thread: follows the log with a small lag, many entries at a time. Checks the index
 * and the entries, and makes a spoiled index again while readers use the log.
 */
import { setImmediate as nextTick } from 'node:timers/promises';

import { assertStorageFault, causeOf } from '../../../storage-fault.ts';
import { DamageRegistry } from '../damage/damage-registry.ts';
import { Scrubber } from '../damage/scrubber.ts';
import { isSpoiled, openForReading } from '../database.ts';
import { StoreThread } from '../store-thread.ts';
import { removeIndex } from './index-database.ts';
import { Indexer } from './indexer.ts';
import { SpoiledIndex } from './postings.ts';

/** How often it is looked whether something has to be repaired, or was. */
const REPAIR_INTERVAL_MS = 1000;
/**
 * Where so many entries come at once, more are indexed together: a facet that many of them have gets one
 * row for all.
 */
const BUSY_ENTRIES = 1000;
const BUSY_DELAY_MS = 750;

/** What a start spends on checking the newest parts of the index. The others are checked behind it. */
const MAX_START_CHECK_MS = 10;

/** Of the thread's time, one part in so many goes into looking for changes on the disk. */
const SCRUB_SHARE = 50;
const MIN_SCRUB_PAUSE_MS = 100;
/** How often it is stored how far that has come, and how often at most a whole pass is reported. */
const STORE_SCRUB_MS = 10_000;
const REPORT_SCRUB_MS = 3_600_000;

const thread = new StoreThread();
const { paths, shared } = thread;
const log = openForReading(paths.log, 256);
const damage = new DamageRegistry(thread, log);
/** Undefined while the index has to be made again, and cannot. */
let indexer: Indexer | undefined;

// A start without an index that can be written is refused.
const stored = attempt((current) => current.storedScrub());
const scrubber = new Scrubber(thread, damage, stored?.at ?? 0);
let completed = stored?.completed ?? 0;
let storedAt = performance.now();
let reportedAt = -Infinity;
try {
  const started = performance.now();
  eraseWithheld();
  while (shared.indexed < shared.head) attempt((current) => current.step());
  thread.report('derived', undefined);
  while (performance.now() - started < MAX_START_CHECK_MS && checkNextPart());
} catch (error) {
  assertStorageFault(error);
  onOutcome(error);
}
thread.serve((client) => damage.addClient(client));
await Promise.all([
  thread.repeat(indexNext, onOutcome),
  thread.repeat(check, () => {}),
  thread.repeat(repair, () => {}),
  thread.repeat(scrub, () => {}),
  thread.repeat(encodeRuns, () => {}),
]);
try {
  storeScrub();
} catch (error) {
  assertStorageFault(error);
}
scrubber.close();
indexer?.close();
log.close();
thread.close();

/** While a disk error lasts, entries are found in the unindexed tail. */
function onOutcome(fault?: Error): void {
  shared.indexFailing = fault !== undefined;
  thread.report('index', fault && causeOf(fault));
}

/** Removes what was withheld from the index and the runs. One that is made again meanwhile never has it. */
function eraseWithheld(): void {
  const last = shared.withheldInLog;
  if (shared.indexWithheld === last) return;
  try {
    attempt((current) => current.erase());
  } catch (error) {
    assertStorageFault(error);
    // As where there is no space for a copy: making the index again needs none.
    replaceIndex(error);
  }
  shared.indexWithheld = last;
}

async function indexNext(): Promise<void> {
  eraseWithheld();
  if (indexer === undefined || indexer.isFarBehind()) await nextTick();
  else {
    await thread.headMoved(shared.indexed);
    if (shared.head - shared.indexed >= BUSY_ENTRIES) await thread.sleep(BUSY_DELAY_MS);
  }
  attempt((current) => current.step());
  if (shared.indexed === shared.head) thread.report('derived', undefined);
}

/** Does something with the index, or makes it again where it turns out to be spoiled. */
function attempt<T>(work: (current: Indexer) => T): T | undefined {
  try {
    indexer ??= new Indexer(paths, shared, reportSpoiled);
    if (shared.indexSpoiled) throw new SpoiledIndex('A reader has found a change in the index.');
    return work(indexer);
  } catch (error) {
    if (!isSpoiled(error) && !(error instanceof SpoiledIndex)) throw error;
    replaceIndex(error);
    return undefined;
  }
}

function reportSpoiled(fault: Error): void {
  thread.report('derived', causeOf(fault));
}

function replaceIndex(fault: Error): void {
  reportSpoiled(fault);
  shared.indexSpoiled = true;
  indexer?.close();
  indexer = undefined;
  removeIndex(paths);
  indexer = new Indexer(paths, shared, reportSpoiled);
  shared.indexGeneration += 1;
  shared.indexSpoiled = false;
  // The indexer may wait for new entries.
  shared.wakeWaiters();
}

function checkNextPart(): boolean {
  return attempt((current) => current.checkNextPart()) ?? false;
}

async function check(): Promise<void> {
  if (checkNextPart()) await nextTick();
  else await thread.sleep(REPAIR_INTERVAL_MS);
}

async function repair(): Promise<void> {
  await thread.sleep(REPAIR_INTERVAL_MS);
  if (attempt((current) => current.repairRun()) === true) {
    thread.report('derived', { code: 'CHECKSUM', message: 'A run of entries has changed.' });
    thread.report('derived', undefined);
  }
  const unreadable = await damage.recheck(thread.signal);
  attempt((current) => current.removeRunsWith(unreadable));
}

/** Compresses runs for readers. Takes half of the thread's time, and none while the index is behind. */
async function encodeRuns(): Promise<void> {
  const started = performance.now();
  const isBusy = indexer?.isFarBehind() !== false;
  const hasEncoded = !isBusy && attempt((current) => current.encodeRun()) === true;
  await thread.sleep(hasEncoded ? performance.now() - started : REPAIR_INTERVAL_MS);
}

/** Verifies some entries, and one part of the index with one run, as they are on the disk. */
async function scrub(): Promise<void> {
  const started = performance.now();
  if (await scrubber.step(thread.signal)) passCompleted();
  thread.metrics?.recordScrub(scrubber.at, completed);
  attempt((current) => current.scrub());
  if (started - storedAt > STORE_SCRUB_MS) storeScrub();
  const elapsed = performance.now() - started;
  await thread.sleep(Math.max(MIN_SCRUB_PAUSE_MS, elapsed * (SCRUB_SHARE - 1)));
}

function passCompleted(): void {
  completed = Date.now();
  const now = performance.now();
  if (now - reportedAt < REPORT_SCRUB_MS) return;
  reportedAt = now;
  thread.reportVerified(shared.head);
}

function storeScrub(): void {
  storedAt = performance.now();
  attempt((current) => current.storeScrub({ at: scrubber.at, completed }));
}
