/**
 * Reads JSON (RFC 8259) from bytes that come in pieces of any size, and tells a listener of its
 * outermost levels.
 *
 * Owns the grammar, UTF-8 and positions; knows nothing of entries. Upholds:
 * - it takes exactly the texts that `JSON.parse` takes after decoding them as strict UTF-8.
 * - it never recurses, and holds one bit per open object or array and nothing else of the text.
 * - what it says does not depend on where the pieces are cut.
 */
import { isUtf8 } from 'node:buffer';

import type { GatewayError } from '@open-presence/protocol';

import type { Listener, ValueType } from './listener.ts';
import { notJson, notUtf8, type Position, type Wanted } from './syntax-error.ts';
import { Nesting } from './nesting.ts';
import * as tables from './scanner-tables.ts';
import { firstBadSequence, sequenceLength, wholeSequences } from './utf8.ts';

const { AFTER, COLON, DONE, ESCAPE, HEX, NAME, NAME_OR_END, STRING } = tables;
const { INTEGER, MINUS, NUMBER_ENDS, TEXT, VALUE, VALUE_OR_END, WORD, ZERO } = tables;
const { ESCAPES, HEX_VALUE, PLAIN, stepNumber } = tables;

export class Scanner {
  readonly #listener: Listener;
  readonly #example: unknown;
  readonly #nesting = new Nesting();
  #state = TEXT;
  /** The deepest level whose values are told. */
  #watched = 0;
  /** Whether the text of the string at hand is told. */
  #told = false;
  /** Whether the string at hand is a member's name. */
  #naming = false;
  #word: 'true' | 'false' | 'null' = 'null';
  #wordAt = 0;
  #unit = 0;
  #digits = 0;
  /** Of the first byte of the piece at hand. */
  #offset = 0;
  #line = 1;
  #lineStart = 0;
  /** A sequence that the last piece cut. */
  readonly #cut: Uint8Array = new Uint8Array(4);
  #cutLength = 0;

  /** The example goes into the error for a text that is not JSON. */
  constructor(listener: Listener, example?: unknown) {
    this.#listener = listener;
    this.#example = example;
  }

  /** Throws a `malformed-json` at the first byte that does not fit. */
  feed(bytes: Uint8Array): void {
    let from = 0;
    while (this.#cutLength > 0 && from < bytes.length) {
      this.#cut[this.#cutLength] = bytes[from] ?? 0;
      this.#cutLength++;
      from++;
      if (this.#cutLength < sequenceLength(this.#cut[0] ?? 0)) continue;
      const sequence = this.#cut.subarray(0, this.#cutLength);
      this.#cutLength = 0;
      this.#whole(sequence);
    }
    const rest = from === 0 ? bytes : bytes.subarray(from);
    const end = wholeSequences(rest);
    this.#whole(end === rest.length ? rest : rest.subarray(0, end));
    if (end === rest.length) return;
    this.#cut.set(rest.subarray(end));
    this.#cutLength = rest.length - end;
  }

  /** Throws a `malformed-json` if the text is not complete. */
  end(): void {
    if (this.#cutLength > 0) throw this.#badSequence(this.#cut);
    if (NUMBER_MAY_END.has(this.#state)) this.#valueEnds(0);
    if (this.#state !== DONE) throw this.#misfit(0, undefined);
  }

  #whole(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (isUtf8(bytes)) {
      this.#piece(bytes);
      return;
    }
    const bad = firstBadSequence(bytes);
    if (bad > 0) this.#piece(bytes.subarray(0, bad));
    throw this.#badSequence(bytes.subarray(bad));
  }

  #piece(bytes: Uint8Array): void {
    this.#listener.pieceBegins(bytes, this.#offset);
    let at = this.#offset === 0 && startsWithMark(bytes) ? 3 : 0;
    while (at < bytes.length) {
      if (this.#state === STRING) at = this.#inString(bytes, at);
      else if (this.#state <= DONE) at = this.#between(bytes, at);
      else if (this.#state >= MINUS) at = this.#inNumber(bytes, at);
      else at = this.#inWordOrEscape(bytes, at);
    }
    this.#listener.pieceEnds();
    this.#offset += bytes.length;
  }

  /** Whitespace and punctuation, up to where a string, number or word has begun. */
  #between(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
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
          if (this.#state !== COLON) throw this.#misfit(at, bytes);
          this.#state = VALUE;
          if (this.#watched > 0 && this.#nesting.depth === 1) this.#listener.colon(at);
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
          this.#quote(bytes, at);
          return at + 1;
        default:
          this.#plain(bytes, at);
          return at + 1;
      }
    }
    return bytes.length;
  }

  #comma(bytes: Uint8Array, at: number): void {
    if (this.#state !== AFTER) throw this.#misfit(at, bytes);
    const object = this.#nesting.inObject();
    this.#state = object ? NAME : VALUE;
    if (object && this.#watched > 0 && this.#nesting.depth === 1) this.#listener.comma(at);
  }

  #open(bytes: Uint8Array, at: number, object: boolean): void {
    this.#valueBegins(bytes, at, object ? 'object' : 'array');
    this.#nesting.open(object);
    this.#state = object ? NAME_OR_END : VALUE_OR_END;
  }

  #close(bytes: Uint8Array, at: number, object: boolean): void {
    const empty = this.#state === (object ? NAME_OR_END : VALUE_OR_END);
    if (!empty && (this.#state !== AFTER || this.#nesting.inObject() !== object)) {
      throw this.#misfit(at, bytes);
    }
    this.#nesting.close();
    if (this.#watched > this.#nesting.depth) this.#watched = this.#nesting.depth;
    this.#valueEnds(at + 1);
  }

  #quote(bytes: Uint8Array, at: number): void {
    this.#naming = this.#state === NAME || this.#state === NAME_OR_END;
    if (this.#naming) {
      this.#told = this.#watched > 0 && this.#nesting.depth === 1;
      if (this.#told) this.#listener.nameBegins(at);
    } else {
      this.#valueBegins(bytes, at, 'string');
    }
    this.#state = STRING;
  }

  /** The first byte of a number or word. */
  #plain(bytes: Uint8Array, at: number): void {
    const byte = bytes[at] ?? 0;
    const word = tables.WORDS[byte];
    if (word !== undefined) {
      this.#valueBegins(bytes, at, word);
      this.#word = word;
      this.#wordAt = 1;
      this.#state = WORD;
      return;
    }
    if (byte !== 0x2d && (byte < 0x30 || byte > 0x39)) throw this.#misfit(at, bytes);
    this.#valueBegins(bytes, at, 'number');
    if (byte === 0x2d) this.#state = MINUS;
    else this.#state = byte === 0x30 ? ZERO : INTEGER;
  }

  #valueBegins(bytes: Uint8Array, at: number, type: ValueType): void {
    if (this.#state > VALUE_OR_END) throw this.#misfit(at, bytes);
    const { depth } = this.#nesting;
    this.#told = depth <= this.#watched && this.#listener.valueBegins(type, depth, at);
    if (this.#told && (type === 'object' || type === 'array')) this.#watched = depth + 1;
  }

  #valueEnds(at: number): void {
    const { depth } = this.#nesting;
    this.#state = depth === 0 ? DONE : AFTER;
    if (depth <= this.#watched) this.#listener.valueEnds(depth, at);
  }

  #inString(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length && PLAIN[bytes[at] ?? 0] === 1) at++;
    if (this.#told && at > from) this.#listener.text(from, at);
    if (at === bytes.length) return at;
    const byte = bytes[at];
    if (byte === 0x5c) {
      this.#state = ESCAPE;
    } else if (byte === 0x22) {
      if (!this.#naming) this.#valueEnds(at + 1);
      else {
        this.#state = COLON;
        if (this.#told) this.#listener.nameEnds(at + 1);
      }
    } else {
      throw this.#misfit(at, bytes);
    }
    return at + 1;
  }

  #inWordOrEscape(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] ?? 0;
    if (this.#state === WORD) {
      if (byte !== this.#word.charCodeAt(this.#wordAt)) throw this.#misfit(at, bytes);
      this.#wordAt++;
      if (this.#wordAt === this.#word.length) this.#valueEnds(at + 1);
    } else if (this.#state === HEX) {
      const digit = HEX_VALUE[byte] ?? 16;
      if (digit === 16) throw this.#misfit(at, bytes);
      this.#unit = this.#unit * 16 + digit;
      this.#digits++;
      if (this.#digits === 4) this.#unitEnds(this.#unit);
    } else if (byte === 0x75) {
      this.#state = HEX;
      this.#unit = 0;
      this.#digits = 0;
    } else {
      const unit = ESCAPES[byte] ?? 0;
      if (unit === 0) throw this.#misfit(at, bytes);
      this.#unitEnds(unit);
    }
    return at + 1;
  }

  #unitEnds(unit: number): void {
    this.#state = STRING;
    if (this.#told) this.#listener.unit(unit);
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
      if (next > NUMBER_ENDS) throw this.#misfit(at, bytes);
      this.#valueEnds(at);
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
    return notUtf8(this.#position(0), bytes[0] ?? 0, this.#example);
  }

  #misfit(at: number, bytes: Uint8Array | undefined): GatewayError {
    return notJson({
      position: this.#position(at),
      wanted: this.#wanted(),
      found: bytes === undefined ? undefined : bytes.subarray(at),
      outermost: this.#nesting.depth === 0,
      example: this.#example,
    });
  }

  #wanted(): Wanted {
    if (this.#state === AFTER) return this.#nesting.inObject() ? 'comma or }' : 'comma or ]';
    return tables.WANTED[this.#state] ?? this.#word;
  }
}

const NUMBER_MAY_END: ReadonlySet<number> = new Set([ZERO, INTEGER, tables.FRACTION, tables.POWER]);

function startsWithMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
