/** Has the writer's thread apply messages in their order, as many in one transaction as have come. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { ApplyRequest, ApplyResponse } from '../sqlite/log/ordered-batch.ts';
import type {
  MarkedResponse,
  WithholdRequest,
  WithholdResponse,
} from '../sqlite/log/withhold-client.ts';

type Batch = ApplyRequest['apply'][number];
export type FromWriter = ApplyResponse | MarkedResponse | WithholdResponse;

/** Leads to the writer's thread. */
export interface WriterPort {
  postMessage(request: ApplyRequest | WithholdRequest): void;
  on(event: 'message', listener: (message: FromWriter) => void): unknown;
}

export interface ApplierCallbacks {
  /** The id of the stream, when messages have come. */
  readonly stream: () => string;
  /** Where to read on from when everything up to the position is applied. */
  readonly resumeAt: (position: number) => number;
  /** `results`: undefined for a message that was applied before. */
  readonly onApplied: (batch: Batch, results: Float64Array | undefined) => void;
  /** What was added cannot be applied now; that is tried again. */
  readonly onFailed: () => void;
  /** Nothing is left of the entries of the message at the position. */
  readonly onErased: (position: number, count: number) => void;
}

/** Bytes of messages that wait: more are not read. */
const MAX_WAITING = 8 * 1024 * 1024;
const RETRY_MS = 500;

export class Applier {
  readonly #writer: WriterPort;
  readonly #callbacks: ApplierCallbacks;
  #waiting: Batch[] = [];
  #waitingSize = 0;
  #running: Promise<void> | undefined;
  /** What the writer's thread does now: it answers before it gets more. */
  #response = Promise.withResolvers<ApplyResponse['applied'] | boolean>();

  constructor(writer: WriterPort, callbacks: ApplierCallbacks) {
    this.#writer = writer;
    this.#callbacks = callbacks;
    writer.on('message', (message) => this.#receive(message));
  }

  /** Whether all that was added is applied. */
  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /** Resolves when more may be added. */
  async add(batch: Batch): Promise<void> {
    this.#waiting.push(batch);
    this.#waitingSize += batch.drafts.byteLength;
    this.#running ??= this.#run();
    while (this.#waitingSize > MAX_WAITING) await this.#running;
  }

  /**
   * Withholds entries behind what was added before. Resolves when that is decided: a failure is tried
   * again, since what follows must find them withheld.
   */
  async withhold(request: WithholdRequest): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    while ((await this.#request(request)) === false) await sleep(RETRY_MS);
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
  async #apply(apply: readonly Batch[]): Promise<void> {
    const resumeAt = this.#callbacks.resumeAt(apply.at(-1)?.position ?? 0);
    for (;;) {
      const applied = await this.#request({ apply, stream: this.#callbacks.stream(), resumeAt });
      if (typeof applied === 'object') {
        for (const [index, batch] of apply.entries())
          this.#callbacks.onApplied(batch, applied[index]);
        return;
      }
      this.#callbacks.onFailed();
      await sleep(RETRY_MS);
    }
  }

  async #request(
    request: ApplyRequest | WithholdRequest,
  ): Promise<ApplyResponse['applied'] | boolean> {
    this.#response = Promise.withResolvers();
    this.#writer.postMessage(request);
    return await this.#response.promise;
  }

  #receive(message: FromWriter): void {
    if ('applied' in message) this.#response.resolve(message.applied);
    else if ('marked' in message) this.#response.resolve(true);
    else if (typeof message.result === 'number')
      this.#callbacks.onErased(message.withholding, message.result);
    else this.#response.resolve(false);
  }
}
