import { createHash } from 'node:crypto';

import type { LargeBody } from './packed-drafts.ts';

const BRACE = 0x7d;

/** Digest of a body as it comes, without its last byte, which is the closing brace. */
export class BodyDigest {
  readonly #hash = createHash('sha256');
  size = 0;
  last: number | undefined;

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.last !== undefined) this.#hash.update(Uint8Array.of(this.last));
    this.#hash.update(bytes.subarray(0, -1));
    this.last = bytes.at(-1);
    this.size += bytes.length;
  }

  digest(): Buffer {
    return this.#hash.copy().digest();
  }

  isOf({ size, digest }: LargeBody): boolean {
    return this.size === size && this.last === BRACE && this.digest().toString('hex') === digest;
  }
}
