/** The indexer's thread: follows the log with a small lag, many entries at a time. */
import { setImmediate as nextTick } from 'node:timers/promises';

import { StoreThread } from '../store-thread.ts';
import { Indexer } from './indexer.ts';

const thread = new StoreThread();
const { shared } = thread;
const indexer = new Indexer(thread.paths, shared);

try {
  while (shared.indexed < shared.head) indexer.step();
} catch {
  // The next step fails in the same way.
}
thread.serve();
// While a disk error lasts, entries are found in the unindexed tail.
await thread.repeat(indexNext, (error) => void (shared.indexFailing = error !== undefined));
indexer.close();
thread.close();

async function indexNext(): Promise<void> {
  if (indexer.isFarBehind()) await nextTick();
  else await thread.headMoved(shared.indexed);
  indexer.step();
}
