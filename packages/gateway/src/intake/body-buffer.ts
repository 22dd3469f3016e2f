/** The text of a body as it will be stored, on its way to a draft or a spool. */
import type { Spool } from '../log/log.ts';

/** Longer runs of spaces are held as a count. */
const MAX_RUN = 64 * 1024;
const SPACES: Uint8Array = Buffer.alloc(MAX_RUN, ' ');
const LINE_BREAKS = Buffer.from('\n\r\t');

export class BodyBuffer {
  #bytes = Buffer.allocUnsafe(1024);
  #length = 0;
  /** The long runs of spaces, each with its place in the bytes. */
  #runs: { readonly at: number; readonly count: number }[] = [];

  /** Bytes in memory. */
  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    this.#reserve(to - from);
    if (to - from < 48) {
      // Cheaper than a native call.
      let at = this.#length;
      for (let next = from; next < to; next++) this.#bytes[at++] = bytes[next] ?? 0;
    } else {
      this.#bytes.set(bytes.subarray(from, to), this.#length);
    }
    this.#length += to - from;
  }

  addSpaces(count: number): void {
    if (count > MAX_RUN) {
      this.#runs.push({ at: this.#length, count });
      return;
    }
    this.#reserve(count);
    this.#bytes.fill(0x20, this.#length, this.#length + count);
    this.#length += count;
  }

  /** The whole body, of a buffer that was never flushed. */
  whole(): Uint8Array {
    return Buffer.concat([...this.#pieces()]);
  }

  /** Moves all bytes to the spool. `yieldTurn` is awaited within long runs of spaces. */
  async flushTo(spool: Spool, yieldTurn: () => Promise<void> | undefined): Promise<void> {
    for (const piece of this.#pieces()) {
      if (piece.length > 0) await spool.write(piece);
      if (piece === SPACES) await yieldTurn();
    }
    this.#length = 0;
    this.#runs = [];
  }

  *#pieces(): Generator<Uint8Array, void, undefined> {
    let from = 0;
    for (const { at, count } of this.#runs) {
      yield this.#withoutBreaks(from, at);
      let left = count;
      for (; left > MAX_RUN; left -= MAX_RUN) yield SPACES;
      yield SPACES.subarray(0, left);
      from = at;
    }
    yield this.#withoutBreaks(from, this.#length);
  }

  #withoutBreaks(from: number, to: number): Uint8Array {
    const bytes = this.#bytes.subarray(from, to);
    return LINE_BREAKS.some((byte) => bytes.includes(byte)) ? replaceBreaks(bytes) : bytes;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const wider = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + more));
    wider.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = wider;
  }
}

/** A copy with spaces for CR, LF and TAB. Unescaped ones are only between tokens. */
export function replaceBreaks(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes, (byte) => Math.max(byte, 0x20));
}
