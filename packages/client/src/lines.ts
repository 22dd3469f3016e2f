/** Divides bytes into lines. Holds no more than one line, and of a long one only its beginning. */

export interface Line {
  /** Without the line end. */
  readonly text: string;
  /** Whether the line is longer than was asked for: `text` is then its beginning. */
  readonly isCut: boolean;
}

const LF = 0x0a;
const CR = 0x0d;
/** Enough for the members of the gateway. */
const BEGINNING = 4096;
const EMPTY = new Uint8Array(0);
/**
 * Bytes of what a gateway keeps short: an error, a checkpoint, a line with its own members. More is none
 * of its answers, and is not read on.
 */
export const SHORT = 64 * 1024;

/**
 * `longest`: in bytes. A last line without an end is given too. Bytes that are not UTF-8 become
 * U+FFFD.
 */
export async function* readLines(
  bytes: AsyncIterable<Uint8Array>,
  longest: number,
): AsyncGenerator<Line> {
  const line = new LineBuffer(longest);
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      yield line.take(chunk.subarray(start, end));
      start = end + 1;
    }
    line.append(chunk.subarray(start));
  }
  if (line.size > 0) yield line.take(EMPTY);
}

/** All of it as one line. Reads no further once it is longer than `longest`. */
export async function readWhole(bytes: AsyncIterable<Uint8Array>, longest: number): Promise<Line> {
  const line = new LineBuffer(longest);
  for await (const chunk of bytes) {
    line.append(chunk);
    if (line.size > longest) break;
  }
  return line.take(EMPTY);
}

/** Copies what it holds: many small chunks would take much more memory than their bytes. */
class LineBuffer {
  size = 0;
  readonly #longest: number;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #held: Uint8Array = EMPTY;

  constructor(longest: number) {
    this.#longest = longest;
  }

  append(part: Uint8Array): void {
    const from = this.size;
    this.size += part.length;
    const kept = this.#isCut ? BEGINNING : this.size;
    if (from < kept) {
      const bytes = part.subarray(0, kept - from);
      this.#reserve(from + bytes.length);
      this.#held.set(bytes, from);
    }
    if (this.#isCut && this.#held.length > BEGINNING) this.#held = this.#held.slice(0, BEGINNING);
  }

  /** The line that ends with these bytes. */
  take(end: Uint8Array): Line {
    // A line in one chunk needs no copy.
    const isWhole = this.size === 0 && end.length <= this.#longest;
    if (!isWhole) this.append(end);
    const isCut = this.#isCut;
    const bytes = isWhole
      ? end
      : this.#held.subarray(0, isCut ? Math.min(this.size, BEGINNING) : this.size);
    const text = this.#decoder.decode(bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes);
    this.size = 0;
    if (this.#held.length > SHORT) this.#held = EMPTY;
    return { text, isCut };
  }

  get #isCut(): boolean {
    return this.size > this.#longest;
  }

  #reserve(size: number): void {
    if (size <= this.#held.length) return;
    const larger = new Uint8Array(Math.max(size, 2 * this.#held.length));
    larger.set(this.#held);
    this.#held = larger;
  }
}
