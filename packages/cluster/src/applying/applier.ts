/** Has the replica apply messages in their order. All that have come share one transaction. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { OrderedBatch, Replica } from '@open-presence/gateway/replica';

export interface ApplierCallbacks {
  /** The id of the stream, when messages have come. */
  readonly stream: () => string;
  /** Where to read on from when everything up to the position is applied. */
  readonly resumeAt: (position: number) => number;
  /** `results`: undefined for a message that was applied before. */
  readonly onApplied: (batch: OrderedBatch, results: Float64Array | undefined) => void;
  /** What was added cannot be applied now; that is tried again. */
  readonly onFailed: () => void;
}

/** Bytes of messages that wait: more are not read. */
const MAX_WAITING = 8 * 1024 * 1024;
const RETRY_MS = 500;

export class Applier {
  readonly #replica: Pick<Replica, 'apply' | 'withhold'>;
  readonly #callbacks: ApplierCallbacks;
  #waiting: OrderedBatch[] = [];
  #waitingSize = 0;
  #running: Promise<void> | undefined;

  constructor(replica: Pick<Replica, 'apply' | 'withhold'>, callbacks: ApplierCallbacks) {
    this.#replica = replica;
    this.#callbacks = callbacks;
  }

  /** Whether all that was added is applied. */
  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /** Resolves when more may be added. */
  async add(batch: OrderedBatch): Promise<void> {
    this.#waiting.push(batch);
    this.#waitingSize += batch.drafts.byteLength;
    this.#running ??= this.#run();
    while (this.#waitingSize > MAX_WAITING) await this.#running;
  }

  /** After what was added before. A failure is tried again, since what follows must find them withheld. */
  async withhold(
    items: Parameters<Replica['withhold']>[0],
  ): Promise<{ readonly erased: Promise<number> }> {
    while (this.#running !== undefined) await this.#running;
    for (;;) {
      const decided = await this.#replica.withhold(items);
      if (decided !== undefined) return decided;
      await sleep(RETRY_MS);
    }
  }

  /** Until nothing waits. */
  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const apply = this.#waiting;
      this.#waiting = [];
      this.#waitingSize = 0;
      await this.#apply(apply);
    }
    this.#running = undefined;
  }

  /** A failure is tried again: the other copies have what this one lacks. */
  async #apply(apply: readonly OrderedBatch[]): Promise<void> {
    const { stream, resumeAt, onApplied, onFailed } = this.#callbacks;
    const request = { apply, stream: stream(), resumeAt: resumeAt(apply.at(-1)?.position ?? 0) };
    for (;;) {
      const applied = await this.#replica.apply(request);
      if (typeof applied === 'object') {
        for (const [index, batch] of apply.entries()) onApplied(batch, applied[index]);
        return;
      }
      onFailed();
      await sleep(RETRY_MS);
    }
  }
}
