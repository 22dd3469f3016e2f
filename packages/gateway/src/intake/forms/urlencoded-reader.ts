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
/** Names of fields are shorter, in bytes. */
const MAX_NAME = 64 * 1024;

export class UrlencodedReader {
  readonly #handler: FieldHandler;
  /** What came before the first `=`. Undefined once it is decided whether it is a text. */
  #opening: Buffer | undefined;
  #isText = false;
  /** The start of an escape that the next piece may complete. */
  #escape: Buffer = EMPTY;
  #hasField = false;
  #isValue = false;

  /** `takesText`: whether what has no `=` is a text. */
  constructor(handler: FieldHandler, takesText = false) {
    this.#handler = handler;
    this.#opening = takesText ? EMPTY : undefined;
  }

  feed(piece: Buffer): void {
    if (this.#opening === undefined) this.#feedFields(piece);
    else {
      this.#opening = Buffer.concat([this.#opening, piece]);
      const isForm = this.#opening.subarray(0, MAX_NAME).includes(EQUALS);
      if (isForm || this.#opening.length > MAX_NAME) this.#decide(!isForm);
    }
  }

  #decide(isText: boolean): void {
    const opening = this.#opening ?? EMPTY;
    this.#opening = undefined;
    if (isText && opening.length > 0) {
      this.#handler.name(TEXT);
      this.#handler.value(EMPTY);
      this.#isText = this.#isValue = this.#hasField = true;
    }
    this.#feedFields(opening);
  }

  #feedFields(piece: Buffer): void {
    if (this.#isText) {
      this.#emit(piece, false);
      return;
    }
    for (let from = 0; from < piece.length;) {
      const end = piece.indexOf(AMPERSAND, from);
      this.#feedField(piece.subarray(from, end === -1 ? piece.length : end));
      if (end === -1) return;
      this.#endField();
      from = end + 1;
    }
  }

  /** Ends the last field. */
  end(): void {
    if (this.#opening !== undefined) this.#decide(true);
    this.#endField();
  }

  #endField(): void {
    if (this.#hasField) {
      this.#emit(EMPTY, true);
      this.#handler.endField();
    }
    this.#hasField = false;
    this.#isValue = false;
  }

  #feedField(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#hasField = true;
    const equals = this.#isValue ? -1 : bytes.indexOf(EQUALS);
    if (equals === -1) {
      this.#emit(bytes, false);
      return;
    }
    this.#emit(bytes.subarray(0, equals), true);
    this.#isValue = true;
    this.#emit(bytes.subarray(equals + 1), false);
  }

  #emit(bytes: Buffer, isEnd: boolean): void {
    const encoded = this.#escape.length === 0 ? bytes : Buffer.concat([this.#escape, bytes]);
    const size = isEnd ? encoded.length : encoded.length - openEscapeSize(encoded);
    this.#escape = encoded.subarray(size);
    const decoded = decode(encoded.subarray(0, size), this.#isText ? PLUS : SPACE);
    if (this.#isValue) this.#handler.value(decoded);
    else this.#handler.name(decoded);
  }
}

/** How many bytes at the end may be the start of an escape. */
function openEscapeSize(bytes: Uint8Array): number {
  if (bytes.at(-1) === PERCENT) return 1;
  const isOpen = bytes.at(-2) === PERCENT && (HEX_VALUE[bytes.at(-1) ?? 0] ?? NO_DIGIT) < NO_DIGIT;
  return isOpen ? 2 : 0;
}

const TEXT = Buffer.from('text');

/**
 * Decodes percent-encoding and `+`, which is a space but in a text. A `%` without two digits stands for itself; `decodeURIComponent` would
 * refuse it.
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
