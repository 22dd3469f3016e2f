/** The indexer's thread: follows the log a little behind, many entries at a time. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { Indexer } from './indexer.ts';
import type { DataPaths } from '../schema.ts';
import { Shared } from '../shared.ts';

export interface IndexStart {
  readonly places: DataPaths;
  readonly shared: SharedArrayBuffer;
  /** Wakes us when the head has moved; we answer when we have caught up. */
  readonly writer: MessagePort;
}
export type ToIndexer = 'close';
export type FromIndexer = 'ready';

/** How long entries gather before they are indexed together: the rows of a facet are then few. */
const GATHER_MS = 250;
const RETRY_MS = 1000;

const start = workerData as IndexStart;
const port = parentPort;
if (port === null) throw new Error('The indexer runs in a thread of its own.');
const shared = new Shared(start.shared);
const indexer = new Indexer(start.places, shared);
let pause: NodeJS.Timeout | undefined;
let immediate: NodeJS.Immediate | undefined;

try {
  while (shared.indexed < shared.head) indexer.step();
} catch {
  retry();
}
start.writer.on('message', () => {
  pause ??= setTimeout(advance, GATHER_MS);
});
port.on('message', () => {
  clearTimeout(pause);
  clearImmediate(immediate);
  indexer.close();
  start.writer.close();
  port.close();
});
port.postMessage('ready' satisfies FromIndexer);

function advance(): void {
  pause = undefined;
  try {
    indexer.step();
    if (indexer.isFarBehind()) immediate = setImmediate(advance);
    else if (shared.indexed < shared.head) pause = setTimeout(advance, GATHER_MS);
    else start.writer.postMessage(null);
    shared.indexFails = false;
  } catch {
    retry();
  }
}

/** The disk refuses: the log says so to visitors; entries are found through the tail meanwhile. */
function retry(): void {
  shared.indexFails = true;
  pause = setTimeout(advance, RETRY_MS);
}
