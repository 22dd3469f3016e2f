/** The first characters of some string members of an object, read from its first bytes. */
import { JsonHandler, type ValueType } from './handler.ts';

export class MemberPreview extends JsonHandler {
  readonly #names: ReadonlySet<string>;
  readonly #longest: number;
  readonly #values = new Map<string, string>();
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #bytes: Uint8Array = new Uint8Array();
  #name = '';
  /** The name or value that is being read. */
  #text = '';
  #isValue = false;

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
  read(): ReadonlyMap<string, string> {
    this.endValue();
    return this.#values;
  }

  override startPiece(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }

  override startName(): boolean {
    this.#text = '';
    return true;
  }

  override endName(): void {
    this.#name = this.#text;
  }

  override startValue(type: ValueType, depth: number): boolean {
    this.#isValue = type === 'string' && this.#names.has(this.#name);
    this.#text = '';
    return depth === 0 ? type === 'object' : this.#isValue;
  }

  override endValue(): void {
    if (this.#isValue) this.#values.set(this.#name, cut(this.#text, this.#longest));
    this.#isValue = false;
  }

  override text(from: number, to: number): void {
    if (this.#text.length >= this.#longest) return;
    const end = Math.min(to, from + 4 * this.#longest);
    this.#text += this.#decoder.decode(this.#bytes.subarray(from, end));
  }

  override codeUnit(code: number): void {
    if (this.#text.length < this.#longest) this.#text += String.fromCharCode(code);
  }
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}
