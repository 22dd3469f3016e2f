/** The words of small entries of ASCII without escapes, as `tokenize` finds them, in one pass and without strings. */
import { UNSEARCHED_MEMBERS } from '@open-presence/protocol';

import { MAX_WORD_LENGTH } from '../../search/tokenizer.ts';

/** Longer bodies are read in pieces by others, in bytes. */
const MAX_LENGTH = 16 * 1024;
const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;
/** In `BYTES`: a byte that ends a string, or that this file does not read. Less than any letter or digit. */
const SPECIAL = 1;

/** For each byte: a lower-case letter or a digit, `SPECIAL`, or 0 for a separator of words. */
const BYTES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80 || byte === QUOTE || byte === 0x5c) return SPECIAL;
  const character = String.fromCharCode(byte);
  return /[a-z0-9]/i.test(character) ? character.toLowerCase().charCodeAt(0) : 0;
});
const UNSEARCHED: readonly Buffer[] = Array.from(UNSEARCHED_MEMBERS, (name) => Buffer.from(name));

export class AsciiWords {
  readonly #valueEnd: Uint8Array;
  #words: Buffer = Buffer.allocUnsafeSlow(0);
  #length = 0;

  /** `valueEnd`: what follows the words of each value. */
  constructor(valueEnd: string) {
    this.#valueEnd = Buffer.from(`${valueEnd} `);
  }

  /**
   * The words, each after a space, in memory that is reused. Undefined for a text of another form. `from`: of a
   * comma.
   */
  read(text: Uint8Array, from: number): Uint8Array | undefined {
    const size = text.length - from;
    if (size > MAX_LENGTH) return undefined;
    this.#length = 0;
    const needed = size * (this.#valueEnd.length + 1);
    if (this.#words.length < needed) this.#words = Buffer.allocUnsafeSlow(2 * needed);
    return this.#readMembers(text, from) ? this.#words.subarray(0, this.#length) : undefined;
  }

  #readMembers(text: Uint8Array, from: number): boolean {
    let depth = 1;
    let isUnsearched = false;
    for (let at = from; at < text.length; at += 1) {
      const byte = text[at];
      // Brackets and braces of arrays and objects.
      if (byte === 0x5b || byte === 0x7b) {
        if (isUnsearched && depth === 1) return false;
        depth += 1;
      } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
      if (byte !== QUOTE) continue;
      const before = this.#length;
      const end = this.#readString(text, at + 1);
      if (end === undefined) return false;
      if (isName(text, end)) {
        this.#length = before;
        if (depth === 1) isUnsearched = isUnsearchedName(text, at + 1, end);
      } else if (isUnsearched && depth === 1) this.#length = before;
      else {
        this.#words.set(this.#valueEnd, this.#length);
        this.#length += this.#valueEnd.length;
      }
      at = end;
    }
    return true;
  }

  /** Returns where the string ends, or undefined if it is of another form. */
  #readString(text: Uint8Array, from: number): number | undefined {
    const words = this.#words;
    let length = this.#length;
    let wordLength = 0;
    for (let at = from; at < text.length; at += 1) {
      const byte = BYTES[text[at] ?? 0] ?? 0;
      if (byte > SPECIAL) {
        wordLength += 1;
        if (wordLength <= MAX_WORD_LENGTH) words[length++] = byte;
        continue;
      }
      if (wordLength > 0) words[length++] = SPACE;
      wordLength = 0;
      if (byte !== SPECIAL) continue;
      this.#length = length;
      return text[at] === QUOTE ? at : undefined;
    }
    return undefined;
  }
}

/** Whether a string that ends here is the name of a member. */
function isName(text: Uint8Array, end: number): boolean {
  let at = end + 1;
  while ((text[at] ?? COLON) <= SPACE) at += 1;
  return text[at] === COLON;
}

function isUnsearchedName(text: Uint8Array, from: number, to: number): boolean {
  for (const name of UNSEARCHED) {
    if (name.length !== to - from) continue;
    let at = 0;
    while (at < name.length && name[at] === text[from + at]) at += 1;
    if (at === name.length) return true;
  }
  return false;
}
