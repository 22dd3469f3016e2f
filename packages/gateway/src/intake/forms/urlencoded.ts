/**
 * Reads `application/x-www-form-urlencoded` (URL standard section 5), in pieces of any size. What has no `=` is no
 * form but a text that was sent with the type of one, as by `curl -d`: the field `text`.
 */
import { HEX_VALUE } from '../../json/scanner-tables.ts';
import type { FieldHandler } from './form-members.ts';

/** In `HEX_VALUE`, for bytes that are no digit. */
const NO_DIGIT = 16;
const [PERCENT, PLUS, SPACE, AMPERSAND, EQUALS] = [0x25, 0x2b, 0x20, 0x26, 0x3d];
const EMPTY = Buffer.alloc(0);
const TEXT = Buffer.from('text');
/** Bytes in which a form has its first `=`. */
const MAX_OPENING = 64 * 1024;
/** Bytes of a chunk that are read in one step: each may be a field. */
const STEP_SIZE = 4096;

/** Passes fields to the handler, a piece with each step. */
export async function* readUrlencoded(
  chunks: AsyncIterable<Buffer>,
  handler: FieldHandler,
): AsyncGenerator<void, void, undefined> {
  const reader = new UrlencodedReader(handler);
  let opening: Buffer | undefined = EMPTY;
  const begin = (): void => {
    const bytes = opening ?? EMPTY;
    opening = undefined;
    if (bytes.length > 0 && !bytes.subarray(0, MAX_OPENING).includes(EQUALS)) reader.startText();
    reader.feed(bytes);
  };
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += STEP_SIZE) {
      const piece = chunk.subarray(at, at + STEP_SIZE);
      if (opening === undefined) reader.feed(piece);
      else {
        opening = Buffer.concat([opening, piece]);
        if (opening.length > MAX_OPENING || opening.includes(EQUALS)) begin();
      }
      yield;
    }
  if (opening !== undefined) begin();
  reader.end();
  yield;
}

export class UrlencodedReader {
  readonly #handler: FieldHandler;
  #isText = false;
  #hasField = false;
  #isValue = false;
  /** The start of an escape that the next piece may complete. */
  #rest: Buffer = EMPTY;

  constructor(handler: FieldHandler) {
    this.#handler = handler;
  }

  startText(): void {
    this.#handler.name(TEXT);
    this.#isText = this.#isValue = this.#hasField = true;
  }

  feed(piece: Buffer): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const size = bytes.length - openEscapeSize(bytes);
    this.#rest = bytes.subarray(size);
    this.#read(bytes.subarray(0, size));
  }

  end(): void {
    this.#read(this.#rest);
    this.#endField();
  }

  #read(bytes: Buffer): void {
    for (let from = 0; from < bytes.length;) {
      const found = this.#isText ? -1 : bytes.indexOf(AMPERSAND, from);
      const end = found === -1 ? bytes.length : found;
      if (end > from) this.#readField(bytes.subarray(from, end));
      if (found !== -1) this.#endField();
      from = end + 1;
    }
  }

  #readField(bytes: Buffer): void {
    this.#hasField = true;
    const equals = this.#isValue ? -1 : bytes.indexOf(EQUALS);
    const name = this.#isValue ? EMPTY : bytes.subarray(0, equals === -1 ? bytes.length : equals);
    if (name.length > 0) this.#handler.name(decode(name, SPACE));
    this.#isValue ||= equals !== -1;
    if (this.#isValue)
      this.#handler.value(decode(bytes.subarray(equals + 1), this.#isText ? PLUS : SPACE));
  }

  #endField(): void {
    if (this.#hasField) this.#handler.endField();
    this.#hasField = this.#isValue = false;
  }
}

/** How many bytes at the end may be the start of an escape. */
function openEscapeSize(bytes: Uint8Array): number {
  if (bytes.at(-1) === PERCENT) return 1;
  const isOpen = bytes.at(-2) === PERCENT && (HEX_VALUE[bytes.at(-1) ?? 0] ?? NO_DIGIT) < NO_DIGIT;
  return isOpen ? 2 : 0;
}

/**
 * Decodes percent-encoding and `+`, which is a space but in a text. A `%` without two digits stands for itself;
 * `decodeURIComponent` would refuse it.
 */
function decode(encoded: Buffer, plus: number): Buffer {
  if (!encoded.includes(PERCENT) && !encoded.includes(PLUS)) return encoded;
  const bytes = Buffer.from(encoded);
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    const high = HEX_VALUE[bytes[at + 1] ?? 0] ?? NO_DIGIT;
    const low = HEX_VALUE[bytes[at + 2] ?? 0] ?? NO_DIGIT;
    if (byte === PERCENT && high < NO_DIGIT && low < NO_DIGIT) {
      bytes[size++] = 16 * high + low;
      at += 2;
    } else bytes[size++] = byte === PLUS ? plus : (byte ?? 0);
  }
  return bytes.subarray(0, size);
}
