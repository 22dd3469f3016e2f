/** An object, in chunks, with other members and without whitespace between them. */
import { JsonHandler, type ValueType } from './handler.ts';
import { JsonScanner } from './scanner.ts';

/** `omitted`: where the omitted names start. `added`: an object whose members come last. Throws `malformed-json`. */
export async function* omitMembers(
  chunks: AsyncIterable<Uint8Array>,
  omitted: ReadonlySet<number>,
  added?: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void, undefined> {
  const copier = new MemberCopier(omitted);
  yield Buffer.from('{');
  yield* copyMembers(chunks, copier);
  if (added !== undefined) yield* copyMembers(added, new MemberCopier(new Set(), copier.isEmpty));
  yield Buffer.from('}');
}

async function* copyMembers(
  chunks: AsyncIterable<Uint8Array>,
  copier: MemberCopier,
): AsyncGenerator<Buffer, void, undefined> {
  const scanner = new JsonScanner(copier);
  for await (const chunk of chunks) {
    scanner.feed(chunk);
    if (copier.copied.length > 0) yield Buffer.concat(copier.copied.splice(0));
  }
  scanner.end();
}

const COMMA = Buffer.from(',');

class MemberCopier extends JsonHandler {
  readonly copied: Uint8Array[] = [];
  /** Whether no member was copied, and none stands before those that are. */
  isEmpty: boolean;
  readonly #omitted: ReadonlySet<number>;
  #from: number | undefined;

  constructor(omitted: ReadonlySet<number>, isEmpty = true) {
    super();
    this.#omitted = omitted;
    this.isEmpty = isEmpty;
  }

  override endPiece(): void {
    if (this.#from === undefined) return;
    this.#copyTo(this.piece.length);
    this.#from = 0;
  }

  override startName(at: number): boolean {
    if (this.#omitted.has(this.offset + at)) return false;
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
    if (this.#from !== undefined) this.copied.push(this.piece.subarray(this.#from, end));
  }
}
