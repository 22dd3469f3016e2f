import type { BodySource } from '../../http/response/response-writer.ts';
import type { ReadEnd, StoredText } from '../../log/log.ts';
import { ResumableText, type ResumableRead } from '../../log/resumable-text.ts';

/**
 * A body that begins with bytes of the gateway, goes on with texts of the log, and ends with what is known after
 * them. It is no generator: that would hold a chunk while the caller stalls.
 */
export class FramedText implements BodySource, AsyncIterator<Uint8Array | StoredText, undefined> {
  readonly #opening: Uint8Array;
  readonly #texts: ResumableText;
  readonly #closingOf: (end: ReadEnd) => Uint8Array | Promise<Uint8Array>;
  #part: 'opening' | 'entries' | 'closing' | undefined;

  constructor(
    opening: Uint8Array,
    texts: ResumableRead,
    closingOf: (end: ReadEnd) => Uint8Array | Promise<Uint8Array>,
  ) {
    this.#opening = opening;
    this.#texts = new ResumableText(texts);
    this.#closingOf = closingOf;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array | StoredText, undefined> {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array | StoredText, undefined>> {
    if (this.#part === 'closing') return { done: true, value: undefined };
    if (this.#part === undefined) {
      this.#part = 'opening';
      return { done: false, value: this.#opening };
    }
    const step = await this.#texts.next();
    this.#part = step.done === true ? 'closing' : 'entries';
    return step.done === true ? { done: false, value: await this.#closingOf(step.value) } : step;
  }

  pause(unsent: number): boolean {
    return this.#part === 'entries' && this.#texts.pause(unsent);
  }

  async return(): Promise<IteratorResult<Uint8Array | StoredText, undefined>> {
    await this.#texts.return();
    return { done: true, value: undefined };
  }
}
