/** Decodes JSON strings to UTF-8. A short value is held, a long one only hashed. Lone surrogates count as U+FFFD. */
import { facetOfBytes, FacetHash, type Facet, type FacetName } from '../log/facet.ts';

/** Bytes of a value that are held. Names and slugs are shorter. */
const MAX_HELD = 1024;

export class StringDecoder {
  readonly #bytes = Buffer.allocUnsafe(MAX_HELD);
  /** Bytes that are held. */
  #length = 0;
  /** Whether the value is longer than what is held. */
  #isTooLong = false;
  #hash: FacetHash | undefined;
  #facetName: FacetName | undefined;

  /** Starts a new string. With a name, `facet` gives the facet of its value. */
  start(facetName?: FacetName): void {
    this.#length = 0;
    this.#isTooLong = false;
    this.#hash = undefined;
    this.#facetName = facetName;
  }

  text(bytes: Uint8Array, from: number, to: number): void {
    if (this.#length + to - from > MAX_HELD) {
      this.#overflow();
      this.#hash?.update(bytes.subarray(from, to));
      return;
    }
    if (to - from > 48) this.#bytes.set(bytes.subarray(from, to), this.#length);
    else for (let at = from; at < to; at++) this.#bytes[this.#length + at - from] = bytes[at] ?? 0;
    this.#length += to - from;
  }

  escaped(code: number): void {
    if ((code & 0xf800) === 0xd800 || code > 0xffff) this.#add(String.fromCodePoint(code));
    else this.#addCharacter(code);
  }

  /** Bytes of the value so far; infinite if it is too long. */
  get size(): number {
    return this.#isTooLong ? Infinity : this.#length;
  }

  /** The value, or undefined if it is too long. */
  get value(): string | undefined {
    return this.#isTooLong ? undefined : this.#bytes.toString('utf8', 0, this.#length);
  }

  /** The facet of a string that was started with a name. */
  facet(): Facet | undefined {
    if (this.#facetName === undefined) return undefined;
    if (!this.#isTooLong) {
      return facetOfBytes(this.#facetName, this.#bytes.subarray(0, this.#length));
    }
    this.#overflow();
    return this.#hash?.finish();
  }

  /** Cheaper than a native call. */
  #addCharacter(code: number): void {
    if (this.#length + 3 > MAX_HELD) this.#overflow();
    const bytes = this.#bytes;
    if (code < 0x80) bytes[this.#length++] = code;
    else {
      if (code < 0x800) bytes[this.#length++] = 0xc0 | (code >> 6);
      else {
        bytes[this.#length++] = 0xe0 | (code >> 12);
        bytes[this.#length++] = 0x80 | ((code >> 6) & 0x3f);
      }
      bytes[this.#length++] = 0x80 | (code & 0x3f);
    }
  }

  #add(text: string): void {
    if (this.#length + 4 > MAX_HELD) this.#overflow();
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Moves what is held into the hash, or drops it. */
  #overflow(): void {
    this.#isTooLong = true;
    if (this.#facetName !== undefined) {
      this.#hash ??= new FacetHash(this.#facetName);
      this.#hash.update(this.#bytes.subarray(0, this.#length));
    }
    this.#length = 0;
  }
}
