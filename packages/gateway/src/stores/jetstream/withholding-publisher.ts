/**
 * Publishes the withholdings of the gateway's threads, and answers each when nothing is left of what the
 * entries said. One that does not fit into a message is published in several: if the gateway is killed
 * before the stream has all of them, some of the entries are withheld, and the command says that it failed.
 */
import type { WithholdRequest, WithholdResponse } from '../sqlite/log/withhold-client.ts';
import type { Publisher } from './publisher.ts';
import { packWithholdings } from './withholding-message.ts';

/** Leads to a thread that withholds. */
interface ClientPort {
  postMessage(response: WithholdResponse): void;
}

interface PendingWithholding {
  readonly client: ClientPort;
  readonly withholding: number;
  /** Messages that have not come to their end. */
  missing: number;
  result: WithholdResponse['result'];
}

export class WithholdingPublisher {
  readonly #publisher: Publisher;
  readonly #erasedInStream: () => Promise<void>;
  /** By the number of their message, until it comes; then by its position, until all is erased. */
  readonly #published = new Map<number, PendingWithholding>();
  readonly #unerased = new Map<number, PendingWithholding>();

  /** `erasedInStream`: resolves when everything that the folder lists is erased in the stream. */
  constructor(publisher: Publisher, erasedInStream: () => Promise<void>) {
    this.#publisher = publisher;
    this.#erasedInStream = erasedInStream;
  }

  add(client: ClientPort, request: WithholdRequest): void {
    const payloads = packWithholdings(request);
    const { withholding } = request;
    const pending = { client, withholding, missing: payloads.length, result: 0 };
    for (const payload of payloads) {
      const [number] = this.#publisher.publish('withhold', [payload]);
      this.#published.set(number, pending);
    }
  }

  /** Answers that nothing is withheld. */
  refuse(client: ClientPort, { withholding }: Pick<WithholdRequest, 'withholding'>): void {
    client.postMessage({ withholding, result: 'unavailable' });
  }

  /** To be called with the position of a message of this gateway before it is applied. */
  came(number: number, position: number): void {
    const pending = this.#published.get(number);
    this.#published.delete(number);
    if (pending !== undefined) this.#unerased.set(position, pending);
  }

  /** To be called where no copy applies a message of this gateway. */
  refused(number: number): void {
    const pending = this.#published.get(number);
    this.#published.delete(number);
    if (pending !== undefined) void this.#end(pending, 'unavailable');
  }

  /** To be called when the folder has nothing of the entries that the message at the position withholds. */
  erased(position: number, count: number): void {
    const pending = this.#unerased.get(position);
    this.#unerased.delete(position);
    if (pending !== undefined) void this.#end(pending, count);
  }

  async #end(pending: PendingWithholding, result: WithholdResponse['result']): Promise<void> {
    const before = pending.result;
    const isCount = typeof result === 'number' && typeof before === 'number';
    if (isCount) pending.result = before + result;
    else if (typeof before === 'number') pending.result = result;
    pending.missing -= 1;
    if (pending.missing > 0) return;
    if (typeof pending.result === 'number') await this.#erasedInStream();
    const { client, withholding } = pending;
    client.postMessage({ withholding, result: pending.result });
  }
}
