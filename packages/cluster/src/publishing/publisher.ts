/** Publishes each message of this gateway until the stream has it, and knows whether the stream takes messages now. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { type MessageKind, packMessage } from '../stream/message.ts';

const ACKNOWLEDGED_WITHIN_MS = 3000;
const RETRY_MS = 200;

/** The part of a `JetStreamClient` that a publisher uses. */
export interface StreamClient {
  /** Resolves when the stream has the message, with its position there. */
  publish(
    subject: string,
    message: Uint8Array,
    options: { readonly msgID: string; readonly timeout: number; readonly retries: number },
  ): Promise<{ readonly seq: number }>;
}

/** The identity of the gateway that has the publisher with this id. */
export function gatewayOf(id: string): string {
  return id.slice(0, 16);
}

export class Publisher {
  /** The identity of the gateway and 8 random bytes of this start, in hex. */
  readonly id: string;
  readonly #client: Promise<StreamClient>;
  readonly #subject: string;
  readonly #onHolding: (cause: Error | undefined) => void;
  readonly #unsettled = new Map<number, PromiseWithResolvers<void>>();
  #last = 0;
  #acknowledged = 0;
  /** Undefined until the stream has answered or failed for the first time. */
  #isHolding: boolean | undefined;
  #isClosed = false;

  /**
   * `gateway`: see `Replica.identity`. `onHolding`: called with the cause when the stream stops taking
   * messages, and without one when it takes them.
   */
  constructor(
    gateway: string,
    client: Promise<StreamClient>,
    subject: string,
    onHolding: (cause: Error | undefined) => void,
  ) {
    this.id = gateway + randomBytes(8).toString('hex');
    this.#client = client;
    this.#subject = subject;
    this.#onHolding = onHolding;
  }

  get inFlight(): number {
    return this.#unsettled.size;
  }

  /** The position of this gateway's newest message that the stream has acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  get isHolding(): boolean {
    return this.#isHolding !== false;
  }

  /** Returns the number of the message, and a promise that resolves when the stream has it. */
  publish(
    kind: MessageKind,
    payload: readonly Uint8Array[],
    subject: string = this.#subject,
  ): [number, Promise<void>] {
    this.#last += 1;
    const number = this.#last;
    const settlement = Promise.withResolvers<void>();
    this.#unsettled.set(number, settlement);
    const [oldest = number] = this.#unsettled.keys();
    const origin = { publisher: this.id, number, settled: oldest - 1, sent: Date.now() };
    void this.#send(number, subject, packMessage(kind, origin, payload));
    return [number, settlement.promise];
  }

  /** The message was seen in the stream. */
  settle(number: number): void {
    this.#unsettled.get(number)?.resolve();
    this.#unsettled.delete(number);
    this.#setHolding(undefined);
  }

  /** Publishes a message without drafts, to find out whether the stream takes messages. */
  probe(): void {
    if (this.inFlight === 0) void this.publish('drafts', [])[1];
  }

  /** The connection is lost. */
  suspect(cause: Error): void {
    this.#setHolding(cause);
    this.probe();
  }

  /** Stops sending. */
  close(): void {
    this.#isClosed = true;
  }

  async #send(number: number, subject: string, message: Uint8Array): Promise<void> {
    const options = { msgID: `${this.id}:${number}`, timeout: ACKNOWLEDGED_WITHIN_MS, retries: 1 };
    const client = await this.#client;
    const started = performance.now();
    while (this.#unsettled.has(number) && !this.#isClosed) {
      try {
        const { seq } = await client.publish(subject, message, options);
        // nats-server 2.10 answers a repeated message so while most servers do not have it yet.
        if (seq === 0) throw new Error('most servers do not have the message yet');
        this.#acknowledged = Math.max(this.#acknowledged, seq);
        this.settle(number);
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        const isLate = performance.now() - started >= ACKNOWLEDGED_WITHIN_MS;
        if (this.#unsettled.has(number) && isLate && !this.#isClosed) this.#setHolding(error);
        await sleep(RETRY_MS);
      }
    }
  }

  #setHolding(cause: Error | undefined): void {
    const isHolding = cause !== undefined;
    if (isHolding === this.#isHolding) return;
    this.#isHolding = isHolding;
    this.#onHolding(cause);
  }
}
