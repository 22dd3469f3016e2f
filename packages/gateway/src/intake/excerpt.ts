/** The beginning of a value as it was spelled, to be quoted in an error. */
import { decodeWhole } from '../json/utf8.ts';

/** Bytes of it that are quoted. */
const LONGEST = 40;

export class Excerpt {
  readonly #bytes = new Uint8Array(LONGEST);
  #length = 0;

  begin(): void {
    this.#length = 0;
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    const free = LONGEST - this.#length;
    if (free > 0) {
      this.#bytes.set(bytes.subarray(from, Math.min(to, from + free)), this.#length);
    }
    this.#length += to - from;
  }

  get text(): string {
    if (this.#length <= LONGEST) return decodeWhole(this.#bytes.subarray(0, this.#length));
    return `${decodeWhole(this.#bytes)}…`;
  }
}
