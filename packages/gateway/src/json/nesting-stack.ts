/** The open objects and arrays of a text, one bit each, so that depth costs almost no memory. */
export class NestingStack {
  depth = 0;
  /** The lowest bit of a byte is the outermost of its eight levels; 1 for an object. */
  #bits = new Uint8Array(32);

  open(object: boolean): void {
    const at = Math.floor(this.depth / 8);
    if (at === this.#bits.length) this.#grow();
    const bit = 1 << (this.depth % 8);
    const others = (this.#bits[at] ?? 0) & ~bit;
    this.#bits[at] = object ? others | bit : others;
    this.depth++;
  }

  close(): void {
    this.depth--;
  }

  inObject(): boolean {
    const last = this.depth - 1;
    return last >= 0 && ((this.#bits[Math.floor(last / 8)] ?? 0) & (1 << (last % 8))) !== 0;
  }

  #grow(): void {
    const wider = new Uint8Array(2 * this.#bits.length);
    wider.set(this.#bits);
    this.#bits = wider;
  }
}
