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
      line.append(chunk.subarray(start, end));
      yield line.take();
      start = end + 1;
    }
    line.append(chunk.subarray(start));
  }
  if (line.size > 0) yield line.take();
}

/** All of it as one line. Reads no further once it is longer than `longest`. */
export async function readWhole(bytes: AsyncIterable<Uint8Array>, longest: number): Promise<Line> {
  const line = new LineBuffer(longest);
  for await (const chunk of bytes) {
    line.append(chunk);
    if (line.size > longest) break;
  }
  return line.take();
}

class LineBuffer {
  size = 0;
  readonly #longest: number;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #parts: Uint8Array[] = [];

  constructor(longest: number) {
    this.#longest = longest;
  }

  append(part: Uint8Array): void {
    if (part.length === 0) return;
    const before = this.size;
    this.size += part.length;
    if (this.size <= this.#longest) this.#parts.push(part);
    else if (before <= this.#longest) this.#parts = [join([...this.#parts, part], BEGINNING)];
  }

  take(): Line {
    const isCut = this.size > this.#longest;
    const whole = join(this.#parts, isCut ? BEGINNING : this.size);
    const text = this.#decoder.decode(whole.at(-1) === CR ? whole.subarray(0, -1) : whole);
    this.#parts = [];
    this.size = 0;
    return { text, isCut };
  }
}

/** At most the first `size` bytes, of one part without a copy. */
function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first.subarray(0, size);
  const joined = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    if (at === size) break;
    const taken = part.subarray(0, size - at);
    joined.set(taken, at);
    at += taken.length;
  }
  return joined.subarray(0, at);
}
