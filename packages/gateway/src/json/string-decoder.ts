/**
 * What one string of a body says, with its escapes resolved, in UTF-8: held as far as it is short,
 * hashed as it comes where it is long. Lone surrogates count as U+FFFD.
 */
import { facetOfBytes, FacetHash, type Facet, type FacetName } from '../log/facet.ts';

/** Names and slugs are held whole up to here. */
const HELD = 1024;

export class StringDecoder {
  readonly #bytes = Buffer.allocUnsafe(HELD);
  #length = 0;
  #long = false;
  #hash: FacetHash | undefined;
  #hashedAs: FacetName | undefined;
  /** A high surrogate that waits for its other half, 0 if none. */
  #high = 0;

  /** What comes next is a new string; with a name, its facet is wanted. */
  begin(hashedAs?: FacetName): void {
    this.#length = 0;
    this.#long = false;
    this.#hash = undefined;
    this.#hashedAs = hashedAs;
    this.#high = 0;
  }

  /** Bytes that stand for themselves. */
  text(bytes: Uint8Array, from: number, to: number): void {
    if (this.#high !== 0) this.#lone();
    if (this.#length + to - from <= HELD) {
      if (to - from > 48) this.#bytes.set(bytes.subarray(from, to), this.#length);
      else
        for (let at = from; at < to; at++) this.#bytes[this.#length + at - from] = bytes[at] ?? 0;
      this.#length += to - from;
      return;
    }
    this.#overflow();
    this.#hash?.update(bytes.subarray(from, to));
  }

  /** A UTF-16 code unit. */
  unit(code: number): void {
    if (this.#high !== 0 && code >= 0xdc00 && code <= 0xdfff) {
      const point = 0x10000 + ((this.#high - 0xd800) << 10) + (code - 0xdc00);
      this.#high = 0;
      this.#point(point);
      return;
    }
    if (this.#high !== 0) this.#lone();
    if (code >= 0xd800 && code <= 0xdbff) this.#high = code;
    else this.#point(code >= 0xdc00 && code <= 0xdfff ? 0xfffd : code);
  }

  /** Bytes so far; meaningless once `long`. */
  get length(): number {
    return this.#length;
  }

  /** Whether it says more than is held. */
  get long(): boolean {
    return this.#long;
  }

  end(): void {
    if (this.#high !== 0) this.#lone();
  }

  /** After `end`. */
  is(bytes: Uint8Array): boolean {
    if (this.#long || this.#length !== bytes.length) return false;
    for (let at = 0; at < bytes.length; at++) if (this.#bytes[at] !== bytes[at]) return false;
    return true;
  }

  /** After `end`: the text, or undefined where it is long. */
  get held(): string | undefined {
    return this.#long ? undefined : this.#bytes.toString('utf8', 0, this.#length);
  }

  /** After `end`: the facet of a string begun with a name. */
  facet(): Facet | undefined {
    if (this.#hashedAs === undefined) return undefined;
    if (!this.#long) {
      return facetOfBytes(this.#hashedAs, this.#bytes.subarray(0, this.#length));
    }
    this.#overflow();
    return this.#hash?.finish();
  }

  #lone(): void {
    this.#high = 0;
    this.#point(0xfffd);
  }

  #point(point: number): void {
    if (this.#length + 4 > HELD) this.#overflow();
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

  /** Hands what is held to the hash, or lets it go. */
  #overflow(): void {
    this.#long = true;
    if (this.#hashedAs !== undefined) {
      this.#hash ??= new FacetHash(this.#hashedAs);
      this.#hash.update(this.#bytes.subarray(0, this.#length));
    }
    this.#length = 0;
  }
}
