/** The indexer's thread: follows the log with a small lag, many entries at a time. */
import { setImmediate as nextTick } from 'node:timers/promises';

import { assertStorageFault, causeOf } from '../../../storage-fault.ts';
import { DamageRegistry } from '../damage/damage-registry.ts';
import { openForReading } from '../database.ts';
import { StoreThread } from '../store-thread.ts';
import { Indexer } from './indexer.ts';

/** How often it is looked whether something has to be repaired, or was. */
const REPAIR_INTERVAL_MS = 1000;

const thread = new StoreThread();
const { paths, shared } = thread;
const log = openForReading(paths.log, 256);
const damage = new DamageRegistry(thread, log);
const indexer = new Indexer(paths, shared);

try {
  while (shared.indexed < shared.head) indexer.step();
} catch (error) {
  assertStorageFault(error);
  onOutcome(error);
}
thread.serve((client) => damage.addClient(client));
await Promise.all([thread.repeat(indexNext, onOutcome), thread.repeat(repair, () => {})]);
indexer.close();
log.close();
thread.close();

/** While a disk error lasts, entries are found in the unindexed tail. */
function onOutcome(fault?: Error): void {
  shared.indexFailing = fault !== undefined;
  thread.report('index', fault && causeOf(fault));
}

async function indexNext(): Promise<void> {
  if (indexer.isFarBehind()) await nextTick();
  else await thread.headMoved(shared.indexed);
  indexer.step();
}

async function repair(): Promise<void> {
  await thread.sleep(REPAIR_INTERVAL_MS);
  if (indexer.repairRun()) {
    thread.report('derived', { code: 'CHECKSUM', message: 'a run of entries has changed' });
    thread.report('derived', undefined);
  }
  await damage.recheck(thread.signal);
}
