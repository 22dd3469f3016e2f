/** In bytes. Smaller heads are parsed as they arrive. */
const SMALL_SIZE = 64 * 1024;

/**
 * The head of a request on its way to Node's parser, which copies all it has of a head each time it is
 * given more. Of a long head it is given more only when that doubles what it has, so that the work
 * grows with the head's length and not with its square.
 */
export class LongHead {
  #parsedSize = 0;
  #waiting: NonSharedBuffer[] = [];
  #waitingSize = 0;

  /** Whether a head has begun and not ended. */
  get isIncomplete(): boolean {
    return this.#parsedSize > 0;
  }

  /** What is to be parsed now: nothing, or all that came since the last time. */
  take(bytes: NonSharedBuffer, isEnd: boolean): NonSharedBuffer | undefined {
    const size = this.#waitingSize + bytes.length;
    if (!isEnd && this.#parsedSize >= SMALL_SIZE && size < this.#parsedSize) {
      this.#waiting.push(bytes);
      this.#waitingSize = size;
      return undefined;
    }
    const ready = this.#waitingSize === 0 ? bytes : Buffer.concat([...this.#waiting, bytes], size);
    this.#parsedSize = isEnd ? 0 : this.#parsedSize + size;
    this.#waiting = [];
    this.#waitingSize = 0;
    return ready;
  }
}
