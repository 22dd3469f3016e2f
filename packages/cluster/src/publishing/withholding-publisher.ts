/**
 * Publishes the cases of this gateway, and answers after the text of withheld entries is erased. Cases that do not
 * fit into one message are published in several. If the gateway is killed before the stream has all of them, it has
 * only some, and the command says that it failed.
 */
import type { OrderedCases } from '@open-presence/gateway/replica';

import { packCases } from '../stream/message.ts';
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

  async withhold(cases: readonly OrderedCases[]): Promise<number | 'unavailable'> {
    const erasing = packCases(cases).map((payload) => {
      const { promise, resolve } = Promise.withResolvers<Erased>();
      const [number] = this.#publisher.publish('cases', [payload]);
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
