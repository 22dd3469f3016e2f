/** Has the replica apply messages in their order. Messages that wait together share one transaction. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { OrderedBatch, Replica } from '@open-presence/gateway/replica';

export interface ApplierCallbacks {
  /** The id of the stream. Called only once messages have come, when it is known. */
  readonly stream: () => string;
  /** The message to read on from once everything up to the position is applied. */
  readonly resumeAt: (position: number) => number;
  /** `results`: undefined for a message that was applied before, or is void. */
  readonly onApplied: (batch: OrderedBatch, results: Float64Array | undefined) => void;
  /** Called each time that messages cannot be applied. The applier tries again. */
  readonly onFailed: () => void;
}

/** Bytes of messages that may wait before `add` holds up its caller. */
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

  /** Whether every added message is applied. */
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

  /** Lists the cases once all earlier messages are applied. Retries until it succeeds: later messages depend on it. */
  async withhold(
    cases: Parameters<Replica['withhold']>[0],
  ): Promise<{ readonly erased: Promise<number> }> {
    while (this.#running !== undefined) await this.#running;
    for (;;) {
      const decided = await this.#replica.withhold(cases);
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

  /** Repeats a failure until it passes: the other copies have what this one lacks. */
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
