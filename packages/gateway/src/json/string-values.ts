/**
 * The string values of a stored body, at any depth and in their order, without member names. The
 * body was validated when it was taken in. If its bytes were damaged since, the values before the
 * damage are all that is read: whether an entry is intact is decided elsewhere.
 */
import { isAscii } from 'node:buffer';

import { JsonHandler, type ValueType } from './handler.ts';
import { JsonScanner } from './scanner.ts';

export interface StringSink {
  /** More of the current value. */
  text(piece: string): void;
  /** The value is complete. */
  end(): void;
}

const COMMA = 0x2c;
const NONE = Buffer.alloc(0);

/** Reads the members of an object: from behind its opening brace, or from the comma of a member. */
export class StringValueReader {
  readonly #scanner: JsonScanner;
  #isStarted = false;
  #isDamaged = false;

  constructor(sink: StringSink) {
    this.#scanner = new JsonScanner(new StringValueHandler(sink));
  }

  feed(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#isDamaged) return;
    if (!this.#isStarted) this.#scanner.startInObject(bytes[0] === COMMA);
    this.#isStarted = true;
    try {
      this.#scanner.feed(bytes);
    } catch {
      this.#isDamaged = true;
    }
  }
}

class StringValueHandler extends JsonHandler {
  readonly #sink: StringSink;
  #bytes: Buffer = NONE;
  /** The piece as text if it is ASCII: slices of it cost less than decoding each string. */
  #ascii: string | undefined;
  #inString = false;

  constructor(sink: StringSink) {
    super();
    this.#sink = sink;
  }

  override startPiece({ buffer, byteOffset, length }: Uint8Array): void {
    this.#bytes = Buffer.from(buffer, byteOffset, length);
    this.#ascii = isAscii(this.#bytes) ? this.#bytes.toString('latin1') : undefined;
  }

  override startValue(type: ValueType): boolean {
    this.#inString = type === 'string';
    return this.#inString || type === 'object' || type === 'array';
  }

  override endValue(): void {
    if (this.#inString) this.#sink.end();
    this.#inString = false;
  }

  override text(from: number, to: number): void {
    this.#sink.text(this.#ascii?.slice(from, to) ?? this.#bytes.toString('utf8', from, to));
  }

  override codeUnit(code: number): void {
    this.#sink.text(String.fromCharCode(code));
  }
}

/** All values of a body that is in memory. */
export function stringValuesIn(body: Uint8Array): string[] {
  const values: string[] = [];
  let value = '';
  const reader = new StringValueReader({
    text: (piece) => void (value += piece),
    end: () => {
      values.push(value);
      value = '';
    },
  });
  reader.feed(body);
  return values;
}
