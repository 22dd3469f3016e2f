/** An object, in chunks, with other members and without whitespace between them. */
import { JsonHandler, type ValueType } from './handler.ts';
import { JsonScanner } from './scanner.ts';

/**
 * Throws `malformed-json`.
 *
 * @param omitted Where the names of the members start that are left out.
 * @param added The text of members that come last.
 */
export async function* omitMembers(
  chunks: AsyncIterable<Uint8Array>,
  omitted: ReadonlySet<number>,
  added = '',
): AsyncGenerator<Buffer, void, undefined> {
  const copier = new MemberCopier(omitted);
  const scanner = new JsonScanner(copier);
  yield Buffer.from('{');
  for await (const chunk of chunks) {
    scanner.feed(chunk);
    if (copier.copied.length > 0) yield Buffer.concat(copier.copied.splice(0));
  }
  scanner.end();
  yield Buffer.from(`${copier.isEmpty || added === '' ? '' : ','}${added}}`);
}

const COMMA = Buffer.from(',');

class MemberCopier extends JsonHandler {
  readonly copied: Uint8Array[] = [];
  isEmpty = true;
  readonly #omitted: ReadonlySet<number>;
  #bytes: Uint8Array = COMMA;
  #offset = 0;

  /** From where on bytes of the piece are copied. */
  #from: number | undefined;

  constructor(omitted: ReadonlySet<number>) {
    super();
    this.#omitted = omitted;
  }

  override startPiece(bytes: Uint8Array, offset: number): void {
    this.#bytes = bytes;
    this.#offset = offset;
  }

  override endPiece(): void {
    if (this.#from === undefined) return;
    this.#copyTo(this.#bytes.length);
    this.#from = 0;
  }

  override startName(at: number): boolean {
    if (this.#omitted.has(this.#offset + at)) return false;
    if (!this.isEmpty) this.copied.push(COMMA);
    this.isEmpty = false;
    this.#from = at;
    return false;
  }

  override startValue(_: ValueType, depth: number): boolean {
    return depth === 0;
  }

  override endValue(depth: number, at: number): void {
    if (depth === 1) this.#copyTo(at);
    this.#from = undefined;
  }

  #copyTo(end: number): void {
    if (this.#from !== undefined) this.copied.push(this.#bytes.subarray(this.#from, end));
  }
}
