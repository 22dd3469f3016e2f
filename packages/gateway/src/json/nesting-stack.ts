/** The open objects and arrays of a text, one bit each, so that depth costs almost no memory. */

const WORD = 32;
const NONE = new Uint32Array(0);

export class NestingStack {
  depth = 0;
  /** The innermost up to 32; the lowest bit is the innermost, 1 for an object. */
  #word = 0;
  #bits = 0;
  /** The others, in full words. */
  #words: Uint32Array = NONE;
  #used = 0;

  open(object: boolean): void {
    if (this.#bits === WORD) this.#pushWord();
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

  inObject(): boolean {
    return (this.#word & 1) === 1;
  }

  #pushWord(): void {
    if (this.#used === this.#words.length) {
      const wider = new Uint32Array(Math.max(64, this.#used * 2));
      wider.set(this.#words);
      this.#words = wider;
    }
    this.#words[this.#used] = this.#word;
    this.#used++;
    this.#word = 0;
    this.#bits = 0;
  }
}
