/** The first characters of some string members of an object, read from its first bytes. */
import { JsonHandler, type ValueType } from './handler.ts';

export class MemberPreview extends JsonHandler {
  readonly #names: ReadonlySet<string>;
  readonly #longest: number;
  readonly #values = new Map<string, string>();
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #bytes: Uint8Array = new Uint8Array();
  #inName = false;
  #name = '';
  /** Undefined outside of a string value. */
  #value: string | undefined;

  /** Values are cut between characters behind `longest` UTF-16 code units. */
  constructor(names: ReadonlySet<string>, longest: number) {
    super();
    this.#names = names;
    this.#longest = longest;
  }

  /** Whether this member was read as far as it is kept. */
  has(name: string): boolean {
    const isFull = this.#value !== undefined && this.#value.length >= this.#longest;
    return this.#values.has(name) || (isFull && this.#name === name);
  }

  /** All members that were read, also one whose end is still to come. */
  read(): ReadonlyMap<string, string> {
    this.#store();
    return this.#values;
  }

  override startPiece(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }

  override startValue(type: ValueType, depth: number): boolean {
    if (depth === 0) return type === 'object';
    if (type !== 'string' || !this.#names.has(this.#name)) return false;
    this.#value = '';
    return true;
  }

  override endValue(depth: number): void {
    if (depth === 1) this.#store();
  }

  override startName(): boolean {
    this.#inName = true;
    this.#name = '';
    return true;
  }

  override endName(): void {
    this.#inName = false;
  }

  override text(from: number, to: number): void {
    const end = Math.min(to, from + 4 * this.#longest);
    this.#append(this.#decoder.decode(this.#bytes.subarray(from, end)));
  }

  override codeUnit(code: number): void {
    this.#append(String.fromCharCode(code));
  }

  #append(text: string): void {
    if (this.#inName) this.#name += this.#name.length < this.#longest ? text : '';
    else if (this.#value !== undefined && this.#value.length < this.#longest) this.#value += text;
  }

  #store(): void {
    if (this.#value !== undefined) this.#values.set(this.#name, cut(this.#value, this.#longest));
    this.#value = undefined;
  }
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}
