/**
 * Bytes that arrive in pieces. A list of pieces would take hundreds of bytes for each byte that a caller sends
 * by itself.
 */
export class GrowingBuffer {
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** All bytes so far. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** The first piece is not copied, and must not be changed afterwards. */
  append(piece: Uint8Array): void {
    const end = this.#length + piece.length;
    if (this.#length === 0) {
      this.#buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    } else {
      if (end > this.#buffer.length) this.#grow(end);
      this.#buffer.set(piece, this.#length);
    }
    this.#length = end;
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#length, size));
    larger.set(this.bytes);
    this.#buffer = larger;
  }
}
