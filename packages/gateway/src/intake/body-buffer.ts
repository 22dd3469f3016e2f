/** The text of a body as it will be stored, on its way to a draft or a spool. */
import type { Spool } from '../log/log.ts';

/** Longer runs of spaces are held as a count. */
const MAX_RUN = 64 * 1024;
const SPACES = Buffer.alloc(MAX_RUN, ' ');

export class BodyBuffer {
  #bytes: Buffer;
  #length = 0;
  /** The long runs of spaces, each with its place in the bytes. */
  #runs: { readonly at: number; readonly count: number }[] = [];

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

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
    const parts: Buffer[] = [];
    let from = 0;
    for (const { at, count } of this.#runs) {
      parts.push(this.#bytes.subarray(from, at), Buffer.alloc(count, ' '));
      from = at;
    }
    const last = withoutBreaks(this.#bytes.subarray(from, this.#length));
    return parts.length === 0 ? last : withoutBreaks(Buffer.concat([...parts, last]));
  }

  /** Moves all bytes to the spool. `yieldTurn` is awaited within long runs of spaces. */
  async flushTo(spool: Spool, yieldTurn: () => Promise<void>): Promise<void> {
    let from = 0;
    for (const { at, count } of this.#runs) {
      await writeUnlessEmpty(spool, this.#bytes.subarray(from, at));
      from = at;
      for (let left = count; left > 0; left -= MAX_RUN) {
        await spool.write(SPACES.subarray(0, Math.min(left, MAX_RUN)));
        await yieldTurn();
      }
    }
    await writeUnlessEmpty(spool, this.#bytes.subarray(from, this.#length));
    this.#length = 0;
    this.#runs = [];
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const wider = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + more));
    wider.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = wider;
  }
}

async function writeUnlessEmpty(spool: Spool, bytes: Buffer): Promise<void> {
  if (bytes.length > 0) await spool.write(withoutBreaks(bytes));
}

/** Replaces CR, LF and TAB with spaces, in place. Unescaped ones are only between tokens. */
function withoutBreaks(bytes: Buffer): Buffer {
  if (!hasBreaks(bytes)) return bytes;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x0a || byte === 0x0d || byte === 0x09) bytes[at] = 0x20;
  }
  return bytes;
}

function hasBreaks(bytes: Buffer): boolean {
  return bytes.includes(0x0a) || bytes.includes(0x0d) || bytes.includes(0x09);
}
