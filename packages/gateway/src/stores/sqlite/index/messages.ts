/** What is sent to the indexer's thread, and what it sends. */
import type { MessagePort } from 'node:worker_threads';

import type { DataPaths } from '../data-paths.ts';

export interface IndexerStart {
  readonly paths: DataPaths;
  readonly shared: SharedArrayBuffer;
  /** Wakes the indexer when the head has moved; the indexer answers when it has caught up. */
  readonly writer: MessagePort;
}

export type ToIndexer = 'close';

export type FromIndexer = 'ready';
