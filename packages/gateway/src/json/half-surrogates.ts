/** Replaces each escape of half a surrogate pair by `\ufffd`, in a JSON text that comes in chunks. */
const BACKSLASH = 0x5c;
const U = 0x75;
const ESCAPE_LENGTH = 6;
const REPLACEMENT = 'fffd';
const NONE = Buffer.alloc(0);

export class HalfSurrogates {
  /** An escape that may go on in the next chunk. */
  #held: Buffer = NONE;

  /** Takes the next chunk. All results together are as long as all chunks. */
  replace(chunk: Uint8Array): Buffer {
    const text = Buffer.concat([this.#held, chunk]);
    let at = text.indexOf(BACKSLASH);
    while (at !== -1) {
      const length = escapeLength(text, at);
      if (length === undefined) break;
      if (length === ESCAPE_LENGTH && isSurrogate(text, at)) text.write(REPLACEMENT, at + 2);
      at = text.indexOf(BACKSLASH, at + length);
    }
    const end = at === -1 ? text.length : at;
    this.#held = text.subarray(end);
    return text.subarray(0, end);
  }
}

/** A copy of a whole text. */
export function replaceHalves(text: Uint8Array): Buffer {
  return new HalfSurrogates().replace(text);
}

/** The length of an escape, or of a pair of them. Undefined if the text ends before that is known. */
function escapeLength(text: Buffer, at: number): number | undefined {
  const next = text[at + 1];
  if (next === undefined) return undefined;
  if (next !== U) return 2;
  const second = at + ESCAPE_LENGTH;
  if (second > text.length) return undefined;
  if (!isHigh(unitAt(text, at)) || !mayBeEscape(text, second)) return ESCAPE_LENGTH;
  if (second + ESCAPE_LENGTH > text.length) return undefined;
  return isLow(unitAt(text, second)) ? 2 * ESCAPE_LENGTH : ESCAPE_LENGTH;
}

function mayBeEscape(text: Buffer, at: number): boolean {
  return (text[at] ?? BACKSLASH) === BACKSLASH && (text[at + 1] ?? U) === U;
}

function unitAt(text: Buffer, at: number): number {
  return Number.parseInt(text.toString('latin1', at + 2, at + ESCAPE_LENGTH), 16);
}

function isSurrogate(text: Buffer, at: number): boolean {
  const unit = text[at + 1] === U ? unitAt(text, at) : 0;
  return isHigh(unit) || isLow(unit);
}

/** Of a UTF-16 code unit: whether it is the first half of a pair. */
export function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

export function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
