/** Divides an answer into lines. Holds no more than one line, and of a long one only its beginning. */

export interface Line {
  /** Without the line end. */
  readonly text: string;
  /** Whether the line is longer than was asked for: `text` is then its beginning. */
  readonly isCut: boolean;
}

/** Enough for the members of the gateway. */
const BEGINNING = 4096;
/**
 * Characters of what a gateway keeps short: an error, a checkpoint, a line with its own members. More is none
 * of its answers, and is not read on.
 */
export const SHORT = 64 * 1024;

/** `longest`: in characters. A last line without an end is given too. */
export async function* readLines(
  bytes: AsyncIterable<Uint8Array>,
  longest: number,
): AsyncGenerator<Line> {
  const line = new LineText(longest);
  for await (const text of decoded(bytes)) {
    const [rest = '', ...others] = text.split('\n');
    line.append(rest);
    for (const next of others) {
      yield line.take();
      line.append(next);
    }
  }
  if (line.size > 0) yield line.take();
}

/** All of it as one line. Reads no further once it is longer than `longest`. */
export async function readWhole(bytes: AsyncIterable<Uint8Array>, longest: number): Promise<Line> {
  const line = new LineText(longest);
  for await (const text of decoded(bytes)) {
    line.append(text);
    if (line.size > longest) break;
  }
  return line.take();
}

/** Bytes that are not UTF-8 become U+FFFD. */
async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

class LineText {
  /** Of all characters, also those that are not held. */
  size = 0;
  readonly #longest: number;
  #text = '';

  constructor(longest: number) {
    this.#longest = longest;
  }

  append(text: string): void {
    this.size += text.length;
    if (this.size <= this.#longest) this.#text += text;
    else if (this.#text.length !== BEGINNING) this.#text = (this.#text + text).slice(0, BEGINNING);
  }

  take(): Line {
    const text = this.#text.endsWith('\r') ? this.#text.slice(0, -1) : this.#text;
    const isCut = this.size > this.#longest;
    this.size = 0;
    this.#text = '';
    return { text, isCut };
  }
}
