/** Where the salts of an entry come from. */
import { hash, randomFillSync } from 'node:crypto';

import { SALTS } from '@open-presence/protocol';

const SIZE = 16;
const POOLED = 256;

export interface Salts {
  /** 16 bytes: that of the entry, then that of its key column. They stay as they are until many more were given. */
  next(): Buffer;
  /** For `entryId`. Public, so nothing else can be computed from it. */
  idSalt(): number;
}

/** Drawn many at once. */
export class RandomSalts implements Salts {
  readonly #pool = Buffer.alloc(SIZE * POOLED);
  #at = this.#pool.length;

  next(): Buffer {
    if (this.#at === this.#pool.length) {
      randomFillSync(this.#pool);
      this.#at = 0;
    }
    return this.#pool.subarray(this.#at, (this.#at += SIZE));
  }

  idSalt(): number {
    return Math.floor(Math.random() * SALTS);
  }
}

/** Bytes of `saltsOf`. */
const SALTS_SIZE = 2 * SIZE + 4;

/**
 * All salts of a draft, the same for every copy: the beginning of SHA-512 of the nonce of its message
 * and of its index there (32 bits, big-endian).
 */
export function saltsOf(nonce: Uint8Array, index: number): Buffer {
  const input = Buffer.alloc(nonce.length + 4);
  input.set(nonce);
  input.writeUInt32BE(index, nonce.length);
  return hash('sha512', input, 'buffer').subarray(0, SALTS_SIZE);
}

export class DerivedSalts implements Salts {
  readonly #salts: Buffer;
  #at = 0;

  /** `salts`: from `saltsOf`. */
  constructor(salts: Uint8Array) {
    this.#salts = Buffer.from(salts);
  }

  next(): Buffer {
    return this.#salts.subarray(this.#at, (this.#at += SIZE));
  }

  idSalt(): number {
    return this.#salts.readUInt32BE(2 * SIZE) % SALTS;
  }
}
