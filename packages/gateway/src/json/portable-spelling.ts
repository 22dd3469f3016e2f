/**
 * Respells what readers refuse in a JSON text, which comes in chunks: the escape of half a surrogate pair becomes
 * `\ufffd`. Characters that many readers take for the end of a line become escapes.
 */

/** In UTF-8, a byte a character. `cut`: what may go on in the next chunk. */
const SPELLINGS =
  /(?<cut>\\(?:u(?:.{0,3}|[dD][89abAB]..(?:\\(?:u.{0,3})?)?))?$|\xc2$|\xe2\x80?$)|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(?<half>\\u[dD][89a-fA-F]..)|\\.|(?<lineEnd>\xc2\x85|\xe2\x80[\xa8\xa9])/g;

/** U+0085, U+2028 and U+2029. */
const LINE_ENDS = ['\u0085', '\u2028', '\u2029'].map((character) => Buffer.from(character));

export class PortableSpelling {
  #held = '';

  /** Takes the next chunk of whole characters or parts of them. */
  replace(chunk: Uint8Array): Buffer {
    const text =
      this.#held + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    this.#held = '';
    const replaced = text.replace(SPELLINGS, (found, cut, half, lineEnd) => {
      if (cut !== undefined) {
        this.#held = found;
        return '';
      }
      if (half !== undefined) return String.raw`\ufffd`;
      return lineEnd === undefined ? found : escapeOf(found);
    });
    return Buffer.from(replaced, 'latin1');
  }
}

function escapeOf(lineEnd: string): string {
  const character = Buffer.from(lineEnd, 'latin1').toString();
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A copy of a whole text. */
export function respelled(text: Uint8Array): Buffer {
  return new PortableSpelling().replace(text);
}

/** Whether whole characters have one that readers take for the end of a line. */
export function hasLineEnd(characters: Uint8Array): boolean {
  const bytes = Buffer.from(characters.buffer, characters.byteOffset, characters.length);
  return LINE_ENDS.some((lineEnd) => bytes.includes(lineEnd));
}

/** Of a UTF-16 code unit: whether it is the first half of a pair. */
export function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

export function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
