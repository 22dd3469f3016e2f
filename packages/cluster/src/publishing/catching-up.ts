/**
 * Tells readers when this copy has every entry that any gateway has acknowledged. It publishes a message
 * without drafts, which comes after everything that the stream has so far. Once that message is applied
 * here, everything before it is too. Readers who ask meanwhile share the next message.
 *
 * Invariant: A gateway never tells a caller who names an entry that there is none, if another
 *   gateway has acknowledged it.
 * Test: `test/cluster/seen.test.ts` “a gateway that is behind waits for what its caller has seen”
 *   “without servers a gateway cannot know whether there is an entry that it lacks”
 */
import type { Publisher } from './publisher.ts';

type Answer = PromiseWithResolvers<boolean>;

export class CatchingUp {
  readonly #publisher: Pick<Publisher, 'publish'>;
  /** The answer for readers who asked after the message was published. */
  #next: Answer | undefined;
  #published: { readonly number: number; readonly answer: Answer } | undefined;

  constructor(publisher: Pick<Publisher, 'publish'>) {
    this.#publisher = publisher;
  }

  /** Resolves with false if it cannot be known now. */
  async ask(): Promise<boolean> {
    this.#next ??= Promise.withResolvers();
    const { promise } = this.#next;
    if (this.#published === undefined) this.#publish();
    return await promise;
  }

  /** A message of this gateway was applied. */
  applied(number: number): void {
    if (number !== this.#published?.number) return;
    this.#published.answer.resolve(true);
    this.#published = undefined;
    this.#publish();
  }

  /** Answers all readers that it cannot be known now. */
  giveUp(): void {
    this.#published?.answer.resolve(false);
    this.#next?.resolve(false);
    this.#published = undefined;
    this.#next = undefined;
  }

  #publish(): void {
    const answer = this.#next;
    if (answer === undefined) return;
    this.#next = undefined;
    const [number] = this.#publisher.publish('drafts', []);
    this.#published = { number, answer };
  }
}
