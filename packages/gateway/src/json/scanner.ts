/**
 * Reads JSON (RFC 8259) from bytes that come in pieces of any size, and reports to a handler what
 * it finds in those objects and arrays that the handler asks for.
 *
 * Owns the grammar, UTF-8 and positions; knows nothing of entries. Upholds:
 * - it never recurses, and holds one bit per open object or array and nothing else of the text.
 * - what it reports does not depend on where the pieces are cut.
 *
 * Invariant: The scanner accepts exactly the bytes that a strict UTF-8 decoder and `JSON.parse`
 *   accept.
 * Test: `test/fuzz/intake.test.ts` “bytes are accepted as JSON exactly if a strict decoder and
 *   JSON.parse accept them”
 */
import { isUtf8 } from 'node:buffer';

import type { GatewayError } from '@open-presence/protocol';

import type { Portability } from '../log/portability.ts';
import type { JsonHandler, ValueType } from './handler.ts';
import { isHigh, isLow } from './portable-spelling.ts';
import { NestingStack } from './nesting-stack.ts';
import { PortabilityMeter } from './portability-meter.ts';
import * as tables from './scanner-tables.ts';
import { encodingError, syntaxError, type Expected, type Position } from './syntax-error.ts';
import { firstBadSequence, wholeSequences } from './utf8.ts';

const { AFTER, COLON, DONE, ESCAPE, HEX, NAME, NAME_OR_END, STRING } = tables;
const { INTEGER, LITERAL, MINUS, NUMBER_ENDS, POWER, TEXT, VALUE, VALUE_OR_END, ZERO } = tables;
const { ESCAPES, HEX_VALUE, PLAIN, stepNumber } = tables;

const NONE = new Uint8Array(0);

export class JsonScanner {
  readonly #handler: JsonHandler;
  readonly #example: unknown;
  readonly #nesting = new NestingStack();
  #state = TEXT;
  /** The deepest level whose values are reported. */
  #reported = 0;
  /** Whether the handler wants the content of the current string. */
  #wantsText = false;
  #inName = false;
  /** Where an escape ends that begins the current member name. */
  #firstEscapeEnd = 0;
  #literal: 'true' | 'false' | 'null' = 'null';
  #literalAt = 0;
  #unit = 0;
  #digits = 0;
  /** An escaped high surrogate whose low one may follow, or 0. */
  #high = 0;
  readonly #portability = new PortabilityMeter();
  /** Where the current piece begins in the whole text. */
  #offset = 0;
  #line = 1;
  #lineStart = 0;
  /** The start of a character that continues in the next piece. */
  #cut: Uint8Array = NONE;

  /** The example goes into the error for a text that is not JSON. */
  constructor(handler: JsonHandler, example?: unknown) {
    this.#handler = handler;
    this.#example = example;
  }

  /** What the text that was read so far is. */
  get portability(): Portability {
    return this.#portability.result;
  }

  /** The text starts within an object whose members are reported: after its brace, or after a member. */
  startInObject(isAfterMember: boolean): void {
    this.#nesting.open(true);
    this.#reported = 1;
    this.#state = isAfterMember ? AFTER : NAME_OR_END;
  }

  /** Throws `malformed-json` at the first byte that is not allowed. */
  feed(bytes: Uint8Array): void {
    const text = this.#cut.length === 0 ? bytes : Buffer.concat([this.#cut, bytes]);
    const end = wholeSequences(text);
    // Copied, since the caller may reuse the memory of a piece.
    if (this.#cut.length > 0 || end < text.length) this.#cut = Uint8Array.from(text.subarray(end));
    const whole = end === text.length ? text : text.subarray(0, end);
    if (whole.length === 0) return;
    if (isUtf8(whole)) {
      this.#piece(whole);
      return;
    }
    const bad = firstBadSequence(whole);
    if (bad > 0) this.#piece(whole.subarray(0, bad));
    throw this.#badSequence(whole.subarray(bad));
  }

  /** Throws `malformed-json` if the text is not complete. */
  end(): void {
    if (this.#cut.length > 0) throw this.#badSequence(this.#cut);
    if (NUMBER_MAY_END.has(this.#state)) this.#endValue(0);
    if (this.#state !== DONE) throw this.#unexpected(0, undefined);
  }

  #piece(bytes: Uint8Array): void {
    this.#handler.startPiece(bytes, this.#offset);
    this.#portability.lineEnds(bytes);
    let at = this.#offset === 0 && startsWithMark(bytes) ? 3 : 0;
    const { length } = bytes;
    while (at < length) {
      if (this.#state === STRING) at = this.#inString(bytes, at);
      else if (this.#state <= DONE) at = this.#between(bytes, at);
      else if (this.#state >= MINUS) at = this.#inNumber(bytes, at);
      else at = this.#inLiteralOrEscape(bytes, at);
    }
    if (this.#state >= MINUS) this.#portability.holdNumber(bytes);
    this.#handler.endPiece();
    this.#offset += length;
  }

  /** Whitespace and punctuation, up to the first byte of a string, number or literal. */
  #between(bytes: Uint8Array, from: number): number {
    const { length } = bytes;
    for (let at = from; at < length; at++) {
      switch (bytes[at]) {
        case 0x20:
        case 0x0d:
        case 0x09:
          break;
        case 0x0a:
          this.#line++;
          this.#lineStart = this.#offset + at + 1;
          break;
        case 0x2c:
          this.#comma(bytes, at);
          break;
        case 0x3a:
          if (this.#state !== COLON) throw this.#unexpected(at, bytes);
          this.#state = VALUE;
          if (this.#isReported()) this.#handler.colon(at);
          break;
        case 0x7b:
          this.#open(bytes, at, true);
          break;
        case 0x5b:
          this.#open(bytes, at, false);
          break;
        case 0x7d:
          this.#close(bytes, at, true);
          break;
        case 0x5d:
          this.#close(bytes, at, false);
          break;
        case 0x22:
          this.#startString(bytes, at);
          return at + 1;
        default:
          this.#startScalar(bytes, at);
          return at + 1;
      }
    }
    return length;
  }

  #comma(bytes: Uint8Array, at: number): void {
    if (this.#state !== AFTER) throw this.#unexpected(at, bytes);
    const object = this.#nesting.inObject();
    this.#state = object ? NAME : VALUE;
    if (object && this.#isReported()) this.#handler.comma(at);
  }

  #open(bytes: Uint8Array, at: number, object: boolean): void {
    this.#startValue(bytes, at, object ? 'object' : 'array');
    this.#nesting.open(object);
    this.#portability.depth(this.#nesting.depth);
    this.#state = object ? NAME_OR_END : VALUE_OR_END;
  }

  #close(bytes: Uint8Array, at: number, object: boolean): void {
    const empty = this.#state === (object ? NAME_OR_END : VALUE_OR_END);
    if (!empty && (this.#state !== AFTER || this.#nesting.inObject() !== object)) {
      throw this.#unexpected(at, bytes);
    }
    this.#nesting.close();
    if (this.#reported > this.#nesting.depth) this.#reported = this.#nesting.depth;
    this.#endValue(at + 1);
  }

  #startString(bytes: Uint8Array, at: number): void {
    this.#inName = this.#state === NAME || this.#state === NAME_OR_END;
    if (this.#inName) {
      this.#firstEscapeEnd = this.#offset + at + String.raw`"\u0000`.length;
      this.#wantsText = this.#isReported() && this.#handler.startName(at);
    } else {
      this.#startValue(bytes, at, 'string');
    }
    this.#state = STRING;
  }

  #startScalar(bytes: Uint8Array, at: number): void {
    const byte = bytes[at] ?? 0;
    const literal = tables.LITERALS[byte];
    if (literal !== undefined) {
      this.#startValue(bytes, at, literal);
      this.#literal = literal;
      this.#literalAt = 1;
      this.#state = LITERAL;
      return;
    }
    if (byte !== 0x2d && (byte < 0x30 || byte > 0x39)) throw this.#unexpected(at, bytes);
    this.#startValue(bytes, at, 'number');
    this.#portability.startNumber(at);
    if (byte === 0x2d) this.#state = MINUS;
    else this.#state = byte === 0x30 ? ZERO : INTEGER;
  }

  /** Whether names, colons and commas of the innermost object are reported. */
  #isReported(): boolean {
    return this.#reported === this.#nesting.depth;
  }

  #startValue(bytes: Uint8Array, at: number, type: ValueType): void {
    if (this.#state > VALUE_OR_END) throw this.#unexpected(at, bytes);
    const { depth } = this.#nesting;
    this.#wantsText = depth <= this.#reported && this.#handler.startValue(type, depth, at);
    if (this.#wantsText && (type === 'object' || type === 'array')) this.#reported = depth + 1;
  }

  #endValue(at: number): void {
    const { depth } = this.#nesting;
    this.#state = depth === 0 ? DONE : AFTER;
    if (depth <= this.#reported) this.#handler.endValue(depth, at);
  }

  #inString(bytes: Uint8Array, from: number): number {
    // Reading `length` in each step would double the time.
    const { length } = bytes;
    let at = from;
    while (at < length && PLAIN[bytes[at] ?? 0] === 1) at++;
    if (this.#high !== 0 && (at > from || bytes[at] !== 0x5c)) this.#endHigh();
    if (this.#wantsText && at > from) this.#handler.text(from, at);
    if (at === length) return at;
    const byte = bytes[at];
    if (byte === 0x5c) {
      this.#state = ESCAPE;
    } else if (byte === 0x22) {
      if (!this.#inName) this.#endValue(at + 1);
      else {
        this.#state = COLON;
        if (this.#isReported()) this.#handler.endName(at + 1);
      }
    } else {
      throw this.#unexpected(at, bytes);
    }
    return at + 1;
  }

  #inLiteralOrEscape(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] ?? 0;
    if (this.#state === LITERAL) {
      if (byte !== this.#literal.charCodeAt(this.#literalAt)) throw this.#unexpected(at, bytes);
      this.#literalAt++;
      if (this.#literalAt === this.#literal.length) this.#endValue(at + 1);
    } else if (this.#state === HEX) {
      const digit = HEX_VALUE[byte] ?? 16;
      if (digit === 16) throw this.#unexpected(at, bytes);
      this.#unit = this.#unit * 16 + digit;
      this.#digits++;
      if (this.#digits === 4) this.#endHexEscape(at + 1);
    } else if (byte === 0x75) {
      this.#state = HEX;
      this.#unit = 0;
      this.#digits = 0;
    } else {
      const unit = ESCAPES[byte] ?? 0;
      if (unit === 0) throw this.#unexpected(at, bytes);
      this.#endEscape(unit);
    }
    return at + 1;
  }

  #endHexEscape(at: number): void {
    const unit = this.#unit;
    // PHP refuses to make an object of it.
    if (unit === 0 && this.#inName && this.#offset + at === this.#firstEscapeEnd)
      this.#portability.omit();
    const high = this.#high;
    if (isLow(unit) && high !== 0) {
      this.#high = 0;
      this.#endEscape(0x10000 + ((high - 0xd800) << 10) + unit - 0xdc00);
    } else if (isHigh(unit)) {
      this.#endHigh();
      this.#high = unit;
      this.#state = STRING;
    } else {
      if (isLow(unit)) this.#portability.respell();
      this.#endEscape(unit);
    }
  }

  #endEscape(code: number): void {
    this.#endHigh();
    this.#state = STRING;
    if (this.#wantsText) this.#handler.escaped(code);
  }

  /** Reports the high surrogate that no low one follows. */
  #endHigh(): void {
    if (this.#high === 0) return;
    this.#portability.respell();
    if (this.#wantsText) this.#handler.escaped(this.#high);
    this.#high = 0;
  }

  #inNumber(bytes: Uint8Array, from: number): number {
    let state = this.#state;
    for (let at = from; at < bytes.length; at++) {
      const next = stepNumber(state, bytes[at] ?? 0);
      if (next < NUMBER_ENDS) {
        state = next;
        continue;
      }
      this.#state = state;
      if (next > NUMBER_ENDS) throw this.#unexpected(at, bytes);
      this.#portability.endNumber(bytes, at, state === POWER);
      this.#endValue(at);
      return at;
    }
    this.#state = state;
    return bytes.length;
  }

  #position(at: number): Position {
    const offset = this.#offset + at;
    return { offset, line: this.#line, column: offset - this.#lineStart + 1 };
  }

  #badSequence(bytes: Uint8Array): GatewayError {
    return encodingError(this.#position(0), bytes[0] ?? 0, this.#example);
  }

  #unexpected(at: number, bytes: Uint8Array | undefined): GatewayError {
    return syntaxError({
      position: this.#position(at),
      expected: this.#expected(),
      found: bytes?.subarray(at),
      outermost: this.#nesting.depth === 0,
      example: this.#example,
    });
  }

  #expected(): Expected {
    if (this.#state === AFTER) return this.#nesting.inObject() ? 'comma or }' : 'comma or ]';
    return tables.EXPECTED[this.#state] ?? this.#literal;
  }
}

const NUMBER_MAY_END: ReadonlySet<number> = new Set([ZERO, INTEGER, tables.FRACTION, tables.POWER]);

function startsWithMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
