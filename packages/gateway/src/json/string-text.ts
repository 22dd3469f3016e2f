/** The content of a JSON string in chunks, with each character spelled as `JSON.stringify` does. */
import { JsonHandler, type ValueType } from './handler.ts';
import { JsonScanner } from './scanner.ts';

/** `chunks`: the string with its quotes. Without quotes in the result. Throws `malformed-json`. */
export async function* stringText(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void, undefined> {
  const speller = new Speller();
  const scanner = new JsonScanner(speller);
  for await (const chunk of chunks) {
    scanner.feed(chunk);
    if (speller.spelled.length > 0) yield Buffer.concat(speller.spelled.splice(0));
  }
  scanner.end();
  yield Buffer.concat(speller.spelled);
}

class Speller extends JsonHandler {
  readonly spelled: Uint8Array[] = [];
  #bytes: Uint8Array = Buffer.alloc(0);
  /** An escaped high surrogate whose low surrogate may follow. */
  #high = '';

  override startPiece(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }

  override startValue(type: ValueType): boolean {
    return type === 'string';
  }

  override endValue(): void {
    this.#spellHigh();
  }

  override text(from: number, to: number): void {
    this.#spellHigh();
    this.spelled.push(this.#bytes.subarray(from, to));
  }

  override codeUnit(code: number): void {
    const isLow = code >= 0xdc00 && code <= 0xdfff;
    if (!isLow) this.#spellHigh();
    const unit = this.#high + String.fromCharCode(code);
    const isHigh = code >= 0xd800 && code <= 0xdbff;
    this.#high = isHigh ? unit : '';
    if (!isHigh) this.#spell(unit);
  }

  #spellHigh(): void {
    if (this.#high !== '') this.#spell(this.#high);
    this.#high = '';
  }

  #spell(text: string): void {
    this.spelled.push(Buffer.from(JSON.stringify(text).slice(1, -1)));
  }
}
