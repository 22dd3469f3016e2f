/** Members of a large object: the first characters of some strings, alone or in lists, in its first and its last bytes. */
import { JsonHandler, type ValueType } from './handler.ts';
import { type JsonObject, toJsonObject } from './json-object.ts';

/** How many strings of a list are kept. */
const MAX_ITEMS = 64;

export class MemberPreview extends JsonHandler {
  readonly #names: ReadonlySet<string>;
  readonly #longest: number;
  readonly #values = new Map<string, string | readonly string[]>();
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #name = '';
  /** The name or value that is being read. */
  #text = '';
  #isValue = false;
  /** The list that is being read. */
  #list: string[] | undefined;

  /** Values are cut between characters, after `longest` UTF-16 code units. */
  constructor(names: ReadonlySet<string>, longest: number) {
    super();
    this.#names = names;
    this.#longest = longest;
  }

  /** Whether this member was read as far as it is kept. */
  has(name: string): boolean {
    const isRead = this.#isValue && this.#name === name && this.#text.length >= this.#longest;
    return isRead || this.#values.has(name);
  }

  /** All members that were read, also one whose end is still to come. */
  read(): ReadonlyMap<string, string | readonly string[]> {
    this.#keep();
    this.endValue(1);
    return this.#values;
  }

  /** Those of them that are no lists. */
  strings(): ReadonlyMap<string, string> {
    const strings = new Map<string, string>();
    for (const [name, value] of this.read())
      if (typeof value === 'string') strings.set(name, value);
    return strings;
  }

  override startName(): boolean {
    this.#text = '';
    return true;
  }

  override endName(): void {
    this.#name = this.#text;
  }

  override startValue(type: ValueType, depth: number): boolean {
    this.#text = '';
    if (depth === 0) return type === 'object';
    const isWanted = this.#names.has(this.#name);
    this.#isValue = type === 'string' && isWanted && (this.#list?.length ?? 0) < MAX_ITEMS;
    if (depth > 1) return this.#isValue;
    if (type === 'array' && isWanted) this.#list = [];
    return this.#isValue || this.#list !== undefined;
  }

  override endValue(depth: number): void {
    this.#keep();
    if (depth > 1 || this.#list === undefined) return;
    this.#values.set(this.#name, this.#list);
    this.#list = undefined;
  }

  #keep(): void {
    if (!this.#isValue) return;
    const text = cut(this.#text, this.#longest);
    if (this.#list === undefined) this.#values.set(this.#name, text);
    else this.#list.push(text);
    this.#isValue = false;
  }

  override text(from: number, to: number): void {
    if (this.#text.length >= this.#longest) return;
    const end = Math.min(to, from + 4 * this.#longest);
    this.#text += this.#decoder.decode(this.piece.subarray(from, end));
  }

  override escaped(code: number): void {
    if (this.#text.length < this.#longest) this.#text += String.fromCodePoint(code);
  }
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

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
