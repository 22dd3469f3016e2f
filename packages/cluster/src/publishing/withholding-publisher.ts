/**
 * Publishes the withholdings of this gateway, and answers each after the text of its entries is erased. A
 * withholding that does not fit into one message is published in several. If the gateway is killed before
 * the stream has all of them, only some of the entries are withheld, and the command says that it failed.
 */
import type { OrderedWithholding } from '@open-presence/gateway/replica';

import { packWithholdings } from '../stream/message.ts';
import type { Publisher } from './publisher.ts';

/** How many entries a message has withheld; undefined if no copy applies the message. */
type Erased = number | undefined;

export class WithholdingPublisher {
  readonly #publisher: Pick<Publisher, 'publish'>;
  readonly #erasedInStream: () => Promise<void>;
  readonly #published = new Map<number, (erased: Erased | Promise<number>) => void>();

  /** `erasedInStream`: resolves when the stream has erased everything that the folder lists. */
  constructor(publisher: Pick<Publisher, 'publish'>, erasedInStream: () => Promise<void>) {
    this.#publisher = publisher;
    this.#erasedInStream = erasedInStream;
  }

  async withhold(items: readonly OrderedWithholding[]): Promise<number | 'unavailable'> {
    const kind = items.some(({ state }) => state !== 'withheld') ? 'hide' : 'withhold';
    const erasing = packWithholdings(items).map((payload) => {
      const { promise, resolve } = Promise.withResolvers<Erased>();
      const [number] = this.#publisher.publish(kind, [payload]);
      this.#published.set(number, resolve);
      return promise;
    });
    let sum = 0;
    let isRefused = false;
    for (const count of await Promise.all(erasing)) {
      sum += count ?? 0;
      isRefused ||= count === undefined;
    }
    if (isRefused) return 'unavailable';
    await this.#erasedInStream();
    return sum;
  }

  /** `erased`: resolves when the folder has nothing left of the entries; undefined if no copy applies the message. */
  decided(number: number, erased: Promise<number> | undefined): void {
    this.#published.get(number)?.(erased);
    this.#published.delete(number);
  }
}
