/** Finds out what in a JSON text common readers refuse (PROTOCOL.md section 4.8). */
import type { Portability } from '../log/portability.ts';
import { hasLineEnd } from './portable-spelling.ts';

/** Ruby refuses more than 100 levels; an answer adds some to those of an entry. */
const MAX_DEPTH = 64;
/** Python and Go refuse integers with a few thousand digits. */
const MAX_DIGITS = 1000;
/** With sign, point, exponent and its sign. */
const MAX_NUMBER_LENGTH = MAX_DIGITS + 4;
/** Shorter ones without an exponent are less than the largest double. */
const MIN_LARGE_NUMBER_LENGTH = 309;
const NONE = new Uint8Array(0);

export class PortabilityMeter {
  #isOmitted = false;
  #isRespelled = false;
  /** Where the current number starts in the piece, and what the pieces before have of it. */
  #numberFrom = 0;
  #number: Uint8Array = NONE;

  get result(): Portability {
    if (this.#isOmitted) return 'omitted';
    return this.#isRespelled ? 'respelled' : 'exact';
  }

  omit(): void {
    this.#isOmitted = true;
  }

  /** `levels`: how many objects and arrays are open. */
  depth(levels: number): void {
    if (levels > MAX_DEPTH) this.#isOmitted = true;
  }

  /** The escape of half a surrogate pair has no other half beside it. */
  respell(): void {
    this.#isRespelled = true;
  }

  /** `piece`: whole characters. */
  lineEnds(piece: Uint8Array): void {
    this.#isRespelled ||= hasLineEnd(piece);
  }

  /** `at`: in the piece that is being read. */
  startNumber(at: number): void {
    this.#numberFrom = at;
    this.#number = NONE;
  }

  /** The number goes on in the next piece. */
  holdNumber(piece: Uint8Array): void {
    const bytes = piece.subarray(this.#numberFrom);
    this.#numberFrom = 0;
    const isTooLong = this.#number.length + bytes.length > MAX_NUMBER_LENGTH;
    if (isTooLong) this.#isOmitted = true;
    this.#number = isTooLong ? NONE : Buffer.concat([this.#number, bytes]);
  }

  endNumber(piece: Uint8Array, at: number, hasExponent: boolean): void {
    const length = this.#number.length + at - this.#numberFrom;
    if (length < MIN_LARGE_NUMBER_LENGTH && !hasExponent) return;
    const number = Buffer.concat([this.#number, piece.subarray(this.#numberFrom, at)]);
    const text = number.toString('latin1');
    const isTooLong = text.length > MAX_DIGITS && text.replace(/\D/g, '').length > MAX_DIGITS;
    if (isTooLong || !Number.isFinite(Number(text))) this.#isOmitted = true;
  }
}

/** What may be the end of a line, an escape of a surrogate or of NUL, many digits in a row, or a number whose exponent has two digits. */
const SUSPECT =
  /[\u0085\u2028\u2029]|\\u(?:[dD][89a-fA-F]|0000)|\d(?:(?<!\d\d)\d{289}|[eE]\+?\d\d(?<=(?:^|[\s,:[])-?[\d.]+[eE]\+?\d\d))/;

/** Whether a JSON text is surely `exact`. Only a scanner knows of some that are. */
export function isSurelyExact(bytes: Uint8Array, text: string): boolean {
  return hasFewLevels(bytes) && !SUSPECT.test(text);
}

/** By counting what opens a level, wherever that stands. */
function hasFewLevels(bytes: Uint8Array): boolean {
  let left = MAX_DEPTH;
  for (const opening of [0x7b, 0x5b]) {
    for (let at = bytes.indexOf(opening); at !== -1; at = bytes.indexOf(opening, at + 1)) {
      if (left === 0) return false;
      left -= 1;
    }
  }
  return true;
}
