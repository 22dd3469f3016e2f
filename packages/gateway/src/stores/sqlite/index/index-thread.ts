/** The indexer's thread: follows the log with a small lag, many entries at a time. */
import { parentPort, workerData } from 'node:worker_threads';

import { SharedState } from '../shared-state.ts';
import { Indexer } from './indexer.ts';
import type { FromIndexer, IndexerStart } from './messages.ts';

/** Entries are indexed together after this delay, so that a facet gets few rows. */
const BATCH_DELAY_MS = 250;
const RETRY_DELAY_MS = 1000;

const start = workerData as IndexerStart;
const port = parentPort;
if (port === null) throw new Error('The indexer must run in a worker thread.');
const shared = new SharedState(start.shared);
const indexer = new Indexer(start.paths, shared);
let timer: NodeJS.Timeout | undefined;
let immediate: NodeJS.Immediate | undefined;

try {
  while (shared.indexed < shared.head) indexer.step();
} catch {
  retry();
}
start.writer.on('message', () => {
  timer ??= setTimeout(advance, BATCH_DELAY_MS);
});
port.on('message', () => {
  clearTimeout(timer);
  clearImmediate(immediate);
  indexer.close();
  start.writer.close();
  port.close();
});
port.postMessage('ready' satisfies FromIndexer);

function advance(): void {
  timer = undefined;
  try {
    indexer.step();
    if (indexer.isFarBehind()) immediate = setImmediate(advance);
    else if (shared.indexed < shared.head) timer = setTimeout(advance, BATCH_DELAY_MS);
    else start.writer.postMessage(null);
    shared.indexFailing = false;
  } catch {
    retry();
  }
}

/** After a disk error. Meanwhile entries are found in the unindexed tail. */
function retry(): void {
  shared.indexFailing = true;
  timer = setTimeout(advance, RETRY_DELAY_MS);
}
