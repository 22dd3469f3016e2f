/** What is sent to the writer's thread, and what it sends. */
import type { MessagePort } from 'node:worker_threads';

import type { DataPaths } from '../data-paths.ts';

export interface WriterStart {
  readonly paths: DataPaths;
  readonly shared: SharedArrayBuffer;
  /** Wakes the indexer when the head has moved. */
  readonly indexer: MessagePort;
}

/** The port of a thread that appends, or the request to close. */
export type ToWriter = MessagePort | 'close';

export type FromWriter =
  | 'ready'
  /** Sent each time it changes. */
  | { readonly writable: boolean };

/** Sent by a thread that appends. `drafts` are packed by `packDrafts`. */
export interface AppendRequest {
  readonly batch: number;
  readonly drafts: ArrayBuffer;
}

/** `results` are packed by `packResults`. */
export interface AppendResponse {
  readonly batch: number;
  readonly results: Float64Array<ArrayBuffer>;
}
