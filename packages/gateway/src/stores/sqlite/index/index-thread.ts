/** The indexer's thread: follows the log with a small lag, many entries at a time. */
import { setImmediate as nextTick } from 'node:timers/promises';

import { assertStorageFault, causeOf } from '../../../storage-fault.ts';
import { StoreThread } from '../store-thread.ts';
import { Indexer } from './indexer.ts';

const thread = new StoreThread();
const { shared } = thread;
const indexer = new Indexer(thread.paths, shared);

try {
  while (shared.indexed < shared.head) indexer.step();
} catch (error) {
  assertStorageFault(error);
  onOutcome(error);
}
thread.serve();
await thread.repeat(indexNext, onOutcome);
indexer.close();
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
