/** The hash chain, as PROTOCOL.md section 20 defines it. */
import { hash, randomFillSync } from 'node:crypto';

import { SALTS } from '@open-presence/protocol';

/** The link before the first entry. */
export const FIRST_LINK: Uint8Array = new Uint8Array(32);

export interface LinkedParts {
  /** The gateway's own members, as they are printed. */
  readonly head: Uint8Array;
  /** See `digestOf`. */
  readonly digest: Uint8Array;
  /** SHA-256 of the key column. */
  readonly keyHash: Uint8Array | undefined;
}

/** The digest of an entry. `body`: SHA-256 of the visitor's members, as they are stored. */
export function digestOf(salt: Uint8Array, body: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([salt, body]));
}

/** Whoever knows one link can detect a change of any byte before. */
export function linkOf(previous: Uint8Array, { head, digest, keyHash }: LinkedParts): Uint8Array {
  const parts = [previous, head, digest];
  if (keyHash !== undefined) parts.push(keyHash);
  return sha256(Buffer.concat(parts));
}

const LINK_SIZE = 32;
const SALT_SIZE = 16;

/** Makes the links of new entries: the same as `linkOf`, with fewer copies. */
export class Linker {
  /** The link before, then what else the next one is made of. */
  #input = Buffer.alloc(4096);
  #headSize = 0;
  readonly #salted = Buffer.alloc(48);

  continueAfter(link: Uint8Array): void {
    this.#input.set(link);
  }

  /** The newest link: a view, which the next one overwrites. So is `head`. */
  get link(): Buffer {
    return this.#input.subarray(0, LINK_SIZE);
  }

  get head(): Buffer {
    return this.#input.subarray(LINK_SIZE, LINK_SIZE + this.#headSize);
  }

  /** The digest of an entry, from the SHA-256 of its body: both are binary strings. */
  digestOf(salt: Uint8Array, body: string): string {
    this.#salted.set(salt);
    this.#salted.write(body, salt.length, 'latin1');
    return sha256Binary(this.#salted);
  }

  /** `head`: ASCII. The digest of the entry, and SHA-256 of the key column: as binary strings. */
  add(head: string, digest: string, keyHash: string | undefined): void {
    this.#reserve(head.length);
    const input = this.#input;
    this.#headSize = input.write(head, LINK_SIZE, 'latin1');
    let end = LINK_SIZE + this.#headSize;
    end += input.write(digest, end, 'latin1');
    if (keyHash !== undefined) end += input.write(keyHash, end, 'latin1');
    input.write(sha256Binary(input.subarray(0, end)), 0, 'latin1');
  }

  #reserve(headSize: number): void {
    const size = 3 * LINK_SIZE + headSize;
    if (size <= this.#input.length) return;
    const larger = Buffer.alloc(2 * size);
    larger.set(this.link);
    this.#input = larger;
  }
}

/**
 * The key column makes the idempotency key part of what the link covers: 16 random bytes, then its digest. The
 * link is made of its SHA-256, which can be published: the random bytes keep the key from being guessed.
 */
export const KEY_COLUMN_SIZE: number = SALT_SIZE + 32;

export function keyColumn(salt: Uint8Array, key: Uint8Array): Buffer {
  return Buffer.concat([salt, key], KEY_COLUMN_SIZE);
}

export function keyIn(column: Uint8Array): Uint8Array {
  return column.subarray(SALT_SIZE, KEY_COLUMN_SIZE);
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer');
}

/** The digest as a string of 32 characters below 256. Faster than a buffer if it is only copied elsewhere. */
export function sha256Binary(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'binary');
}

/** Of an entry: 16 bytes for its body, 16 for its key column, and 4 for its id, which is public. */
const SALTS_SIZE = 2 * SALT_SIZE + 4;

const POOL = Buffer.alloc(256 * SALTS_SIZE);
let used = POOL.length;

/** They stay as they are until many more were drawn. */
export function randomSalts(): Buffer {
  if (used === POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  return POOL.subarray(used, (used += SALTS_SIZE));
}

/** The same on every copy: the first bytes of SHA-512 of the message's nonce and the index (32 bits, big-endian). */
export function saltsOf(nonce: Uint8Array, index: number): Buffer {
  const input = Buffer.alloc(nonce.length + 4);
  input.set(nonce);
  input.writeUInt32BE(index, nonce.length);
  return hash('sha512', input, 'buffer').subarray(0, SALTS_SIZE);
}

export function bodySalt(salts: Uint8Array): Uint8Array {
  return salts.subarray(0, SALT_SIZE);
}

export function keySalt(salts: Uint8Array): Uint8Array {
  return salts.subarray(SALT_SIZE, 2 * SALT_SIZE);
}

/** For `entryId`. */
export function idSalt(salts: Uint8Array): number {
  return Buffer.from(salts.buffer, salts.byteOffset).readUInt32BE(2 * SALT_SIZE) % SALTS;
}
