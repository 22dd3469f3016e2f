/** The last members of an object, read backwards from the end of its JSON text. */
import { toJsonObject, type JsonObject } from './json-object.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** The members that begin in these bytes, which end with the object's closing brace. */
export function lastMembers(bytes: Buffer): JsonObject {
  let start = bytes.length - 1;
  let depth = 0;
  for (let at = start; at >= 0; at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = openingQuote(bytes, at);
    else if (CLOSING.has(byte)) depth += 1;
    else if (OPENING.has(byte)) depth -= 1;
    else if (byte === COMMA && depth === 1) start = at + 1;
  }
  return toJsonObject(JSON.parse(`{${bytes.toString('utf8', start)}`));
}

/** -1 where the string begins before these bytes, or may do so. */
function openingQuote(bytes: Buffer, closing: number): number {
  // The quotation mark that opens a string is the nearest one that is not escaped.
  for (let end = closing; end > 0;) {
    const quote = bytes.lastIndexOf(QUOTE, end - 1);
    let first = quote;
    while (first > 0 && bytes[first - 1] === BACKSLASH) first -= 1;
    if (first <= 0) return -1;
    if ((quote - first) % 2 === 0) return quote;
    end = first;
  }
  return -1;
}
