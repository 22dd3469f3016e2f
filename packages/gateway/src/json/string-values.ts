/**
 * The string values of a stored body that are searched, in their order: neither names nor members that classify
 * the entry. Where the body was damaged since, only the values before that are read.
 */
import { isAscii } from 'node:buffer';

import { GatewayError, UNSEARCHED_MEMBERS } from '@open-presence/protocol';

import { JsonHandler, type ValueType } from './handler.ts';
import { JsonScanner } from './scanner.ts';

export interface StringSink {
  text(piece: string): void;
  end(): void;
}

const COMMA = 0x2c;
/** Characters; longer names are those of other members. */
const MAX_NAME_LENGTH = 32;

/** Reads the members of an object, from after its opening brace or from the comma of a member. */
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
    } catch (error) {
      // What the sink throws is no damage of the bytes.
      if (!(error instanceof GatewayError)) throw error;
      this.#isDamaged = true;
    }
  }
}

class StringValueHandler extends JsonHandler {
  readonly #sink: StringSink;
  /** The piece as text if it is ASCII: slices of it cost less than decoding each string. */
  #ascii: string | undefined;
  #inString = false;
  /** The depth of the members of the current object. */
  #depth = 1;
  /** The name of a member of the body, as far as it was read. */
  #name: string | undefined;
  #isUnsearched = false;

  constructor(sink: StringSink) {
    super();
    this.#sink = sink;
  }

  override startPiece(bytes: Uint8Array, offset: number): void {
    super.startPiece(bytes, offset);
    this.#ascii = isAscii(bytes) ? this.piece.toString('latin1') : undefined;
  }

  override startName(): boolean {
    const isMember = this.#depth === 1;
    if (isMember) this.#name = '';
    return isMember;
  }

  override endName(): void {
    if (this.#name === undefined) return;
    this.#isUnsearched = UNSEARCHED_MEMBERS.has(this.#name);
    this.#name = undefined;
  }

  override startValue(type: ValueType, depth: number): boolean {
    if (depth === 1 && this.#isUnsearched) return false;
    this.#inString = type === 'string';
    const isNested = type === 'object' || type === 'array';
    if (isNested) this.#depth = depth + 1;
    return this.#inString || isNested;
  }

  override endValue(depth: number): void {
    if (this.#inString) this.#sink.end();
    this.#inString = false;
    this.#depth = depth;
  }

  override text(from: number, to: number): void {
    this.#add(this.#ascii?.slice(from, to) ?? this.piece.toString('utf8', from, to));
  }

  override escaped(code: number): void {
    this.#add(String.fromCodePoint(code));
  }

  #add(text: string): void {
    if (this.#name === undefined) this.#sink.text(text);
    else if (this.#name.length <= MAX_NAME_LENGTH) this.#name += text;
  }
}

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
