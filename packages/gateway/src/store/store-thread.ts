/** The inside of a thread of the store. It serves clients, the threads that joined the log. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { collectGarbageWhenIdle } from '../idle-memory.ts';
import { StoreMetrics } from '../metrics/store-metrics.ts';
import { recordUsage } from '../metrics/thread-usage.ts';
import { assertStorageFault, type FaultCause } from '../storage-fault.ts';
import type { DataPaths } from './data-paths.ts';
import { SharedState } from './shared-state.ts';

/** The `workerData` of each thread. */
export interface ThreadStart {
  readonly paths: DataPaths;
  readonly shared: SharedArrayBuffer;
  /** Set where metrics are recorded. */
  readonly metrics: StoreMetricsMemory | undefined;
  /** What a thread needs that no other does. */
  readonly extra: object | undefined;
}

export interface StoreMetricsMemory {
  /** Where this thread counts its own usage (`metrics/thread-usage.ts`). */
  readonly usage: SharedArrayBuffer;
  /** Where all threads of the store count (`metrics/store-metrics.ts`). */
  readonly store: SharedArrayBuffer;
}

/** The port of a client; that the gateway begins to stop; or the request to close. */
export type ToThread = MessagePort | 'stopping' | 'close';

/** What a disk can make fail, each apart from the others. */
export type StorePart =
  | 'storing'
  | 'uploads'
  | 'index'
  | 'derived'
  | 'erasing'
  | 'stream'
  | 'servers'
  | 'copies';

/** A part has begun to fail, or works again. */
export interface StoreChange {
  readonly part: StorePart;
  /** Undefined once it works again. */
  readonly cause: FaultCause | undefined;
}

export type FromThread = 'ready' | StoreChange;

const RETRY_DELAY_MS = 1000;

export class StoreThread {
  readonly paths: DataPaths;
  readonly shared: SharedState;
  readonly metrics: StoreMetrics | undefined;
  readonly clients = new Set<MessagePort>();
  readonly #closing = new AbortController();
  readonly #stopping = new AbortController();
  readonly #failing = new Set<StorePart>();

  constructor() {
    const { paths, shared, metrics } = workerData as ThreadStart;
    this.paths = paths;
    this.shared = new SharedState(shared);
    this.metrics = metrics && new StoreMetrics(metrics.store);
    const background = new DisposableStack();
    background.use(collectGarbageWhenIdle());
    if (metrics !== undefined) background.use(recordUsage(metrics.usage));
    this.signal.addEventListener('abort', () => background[Symbol.dispose]());
  }

  /** Aborted when the store closes. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Aborted when the gateway begins to stop. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Reports the thread as ready, and calls back with each client that joins. */
  serve(onClient: (client: MessagePort) => void = () => {}): void {
    parentPort?.on('message', (message: ToThread) => {
      if (message === 'close') {
        this.#closing.abort();
        this.shared.wakeWaiters();
        return;
      }
      if (message === 'stopping') {
        this.#stopping.abort();
        return;
      }
      this.clients.add(message);
      message.on('close', () => this.clients.delete(message));
      onClient(message);
    });
    this.send('ready');
  }

  /** Reports why a part has begun to fail, or that it works again. */
  report(part: StorePart, cause: FaultCause | undefined): void {
    if (this.#failing.has(part) === (cause !== undefined)) return;
    if (cause === undefined) this.#failing.delete(part);
    else this.#failing.add(part);
    this.send({ part, cause });
  }

  /**
   * Runs until the store closes. Calls back with the outcome of each step. Throws any error that is no storage
   * fault.
   */
  async repeat(step: () => Promise<void>, onOutcome: (fault?: Error) => void): Promise<void> {
    while (!this.signal.aborted) {
      try {
        await step();
        onOutcome();
      } catch (error) {
        if (this.signal.aborted) return;
        assertStorageFault(error);
        onOutcome(error);
        await this.sleep(RETRY_DELAY_MS).catch(() => {});
      }
    }
  }

  /** Rejects when the store closes meanwhile. */
  async sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal });
  }

  send(message: FromThread): void {
    parentPort?.postMessage(message);
  }

  close(): void {
    for (const client of this.clients) client.close();
    parentPort?.close();
  }
}
