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

/** The same for every copy: parts of SHA-512 of the nonce and of the draft's index (32 bits, big-endian). */
export class DerivedSalts implements Salts {
  readonly #digest: Buffer;
  #at = 0;

  constructor(nonce: Uint8Array, index: number) {
    const input = Buffer.alloc(nonce.length + 4);
    input.set(nonce);
    input.writeUInt32BE(index, nonce.length);
    this.#digest = hash('sha512', input, 'buffer');
  }

  next(): Buffer {
    return this.#digest.subarray(this.#at, (this.#at += SIZE));
  }

  idSalt(): number {
    return this.#digest.readUInt32BE(2 * SIZE) % SALTS;
  }
}
