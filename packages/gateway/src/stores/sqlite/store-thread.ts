/** The inside of a thread of the store. It serves clients, the threads that joined the log. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import type { DataPaths } from './data-paths.ts';
import { SharedState } from './shared-state.ts';

/** The `workerData` of each thread. */
export interface ThreadStart {
  readonly paths: DataPaths;
  readonly shared: SharedArrayBuffer;
}

/** The port of a client, or the request to close. */
export type ToThread = MessagePort | 'close';

export type FromThread =
  | 'ready'
  /** From the writer: whether entries can be stored. Sent each time it changes. */
  | { readonly writable: boolean }
  /** From the full-text index: why search fails, undefined once it works again. */
  | { readonly failure: string | undefined };

/** Entries are indexed together after this delay, so that a facet gets few rows. */
const BATCH_DELAY_MS = 250;
const RETRY_DELAY_MS = 1000;

export class StoreThread {
  readonly paths: DataPaths;
  readonly shared: SharedState;
  readonly clients = new Set<MessagePort>();
  readonly #closing = new AbortController();

  constructor() {
    const { paths, shared } = workerData as ThreadStart;
    this.paths = paths;
    this.shared = new SharedState(shared);
  }

  /** Aborted when the store closes. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Reports the thread as ready, and calls back with each client that joins. */
  serve(onClient: (client: MessagePort) => void = () => {}): void {
    parentPort?.on('message', (message: ToThread) => {
      if (message === 'close') {
        this.#closing.abort();
        this.shared.wakeWaiters();
        return;
      }
      this.clients.add(message);
      message.on('close', () => this.clients.delete(message));
      onClient(message);
    });
    this.send('ready');
  }

  send(message: FromThread): void {
    parentPort?.postMessage(message);
  }

  /** Repeats a step until the store closes. Calls back with the outcome of each. */
  async repeat(step: () => Promise<void>, onOutcome: (error?: unknown) => void): Promise<void> {
    while (!this.signal.aborted) {
      try {
        await step();
        onOutcome();
      } catch (error) {
        if (this.signal.aborted) return;
        onOutcome(error);
        await this.sleep(RETRY_DELAY_MS).catch(() => {});
      }
    }
  }

  /** Resolves when entries after `head` can be indexed together. */
  async headMoved(head: number): Promise<void> {
    await this.shared.headMoved(head);
    await this.sleep(BATCH_DELAY_MS);
  }

  /** Rejects when the store closes meanwhile. */
  async sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal });
  }

  /** Lets the thread end. */
  close(): void {
    for (const client of this.clients) client.close();
    parentPort?.close();
  }
}
