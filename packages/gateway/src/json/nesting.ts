/** The open objects and arrays of a text: one bit each, so that depth costs next to nothing. */

const WORD = 32;

export class Nesting {
  /** How many are open. */
  depth = 0;
  /** The innermost up to 32, the last one in the lowest bit: 1 is an object. */
  #word = 0;
  #bits = 0;
  /** The others, in words. */
  #words: Uint32Array = new Uint32Array(0);
  #used = 0;

  open(object: boolean): void {
    if (this.#bits === WORD) this.#keep();
    this.#word = (this.#word << 1) | (object ? 1 : 0);
    this.#bits++;
    this.depth++;
  }

  close(): void {
    this.#word >>>= 1;
    this.#bits--;
    this.depth--;
    if (this.#bits > 0 || this.#used === 0) return;
    this.#used--;
    this.#word = this.#words[this.#used] ?? 0;
    this.#bits = WORD;
  }

  /** Whether the innermost is an object. */
  inObject(): boolean {
    return (this.#word & 1) === 1;
  }

  #keep(): void {
    if (this.#used === this.#words.length) {
      const more = new Uint32Array(Math.max(64, this.#used * 2));
      more.set(this.#words);
      this.#words = more;
    }
    this.#words[this.#used] = this.#word;
    this.#used++;
    this.#word = 0;
    this.#bits = 0;
  }
}
