/**
 * Decodes one JSON string after another to UTF-8, with escapes resolved. A short value is held, a
 * long one is only hashed. Lone surrogates count as U+FFFD.
 */
import { facetOfBytes, FacetHash, type Facet, type FacetName } from '../log/facet.ts';

/** Bytes of a value that are held. Names and slugs are shorter. */
const MAX_HELD = 1024;

export class StringDecoder {
  readonly #bytes = Buffer.allocUnsafe(MAX_HELD);
  #length = 0;
  #isTooLong = false;
  #hash: FacetHash | undefined;
  #facetName: FacetName | undefined;
  /** A high surrogate whose low surrogate is still to come, or 0. */
  #high = 0;

  /** Starts a new string. With a name, `facet` gives the facet of its value. */
  start(facetName?: FacetName): void {
    this.#length = 0;
    this.#isTooLong = false;
    this.#hash = undefined;
    this.#facetName = facetName;
    this.#high = 0;
  }

  /** Characters without a backslash. */
  text(bytes: Uint8Array, from: number, to: number): void {
    if (this.#high !== 0) this.#addLoneSurrogate();
    if (this.#length + to - from <= MAX_HELD) {
      if (to - from > 48) this.#bytes.set(bytes.subarray(from, to), this.#length);
      else
        for (let at = from; at < to; at++) this.#bytes[this.#length + at - from] = bytes[at] ?? 0;
      this.#length += to - from;
      return;
    }
    this.#overflow();
    this.#hash?.update(bytes.subarray(from, to));
  }

  /** A UTF-16 code unit that was escaped. */
  codeUnit(code: number): void {
    if (this.#high !== 0 && code >= 0xdc00 && code <= 0xdfff) {
      const point = 0x10000 + ((this.#high - 0xd800) << 10) + (code - 0xdc00);
      this.#high = 0;
      this.#add(point);
      return;
    }
    if (this.#high !== 0) this.#addLoneSurrogate();
    if (code >= 0xd800 && code <= 0xdbff) this.#high = code;
    else this.#add(code >= 0xdc00 && code <= 0xdfff ? 0xfffd : code);
  }

  /** Bytes so far; meaningless once the value is too long. */
  get length(): number {
    return this.#length;
  }

  /** Whether the value is longer than what is held. */
  get isTooLong(): boolean {
    return this.#isTooLong;
  }

  end(): void {
    if (this.#high !== 0) this.#addLoneSurrogate();
  }

  /** After `end`. */
  equals(bytes: Uint8Array): boolean {
    if (this.#isTooLong || this.#length !== bytes.length) return false;
    for (let at = 0; at < bytes.length; at++) if (this.#bytes[at] !== bytes[at]) return false;
    return true;
  }

  /** After `end`: the value, or undefined if it is too long. */
  get value(): string | undefined {
    return this.#isTooLong ? undefined : this.#bytes.toString('utf8', 0, this.#length);
  }

  /** After `end`: the facet of a string that was started with a name. */
  facet(): Facet | undefined {
    if (this.#facetName === undefined) return undefined;
    if (!this.#isTooLong) {
      return facetOfBytes(this.#facetName, this.#bytes.subarray(0, this.#length));
    }
    this.#overflow();
    return this.#hash?.finish();
  }

  #addLoneSurrogate(): void {
    this.#high = 0;
    this.#add(0xfffd);
  }

  #add(point: number): void {
    if (this.#length + 4 > MAX_HELD) this.#overflow();
    const bytes = this.#bytes;
    if (point < 0x80) {
      bytes[this.#length++] = point;
    } else if (point < 0x800) {
      bytes[this.#length++] = 0xc0 | (point >> 6);
      bytes[this.#length++] = 0x80 | (point & 0x3f);
    } else {
      if (point < 0x10000) {
        bytes[this.#length++] = 0xe0 | (point >> 12);
      } else {
        bytes[this.#length++] = 0xf0 | (point >> 18);
        bytes[this.#length++] = 0x80 | ((point >> 12) & 0x3f);
      }
      bytes[this.#length++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[this.#length++] = 0x80 | (point & 0x3f);
    }
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
