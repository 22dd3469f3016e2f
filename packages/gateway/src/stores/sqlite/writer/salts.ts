/** The salts of an entry: 16 bytes for its body, 16 for its key column, and 4 for its id, which is public. */
import { hash, randomFillSync } from 'node:crypto';

import { SALTS } from '@open-presence/protocol';

const SIZE = 16;
const ALL_SIZE = 2 * SIZE + 4;

const POOL = Buffer.alloc(256 * ALL_SIZE);
let used = POOL.length;

/** They stay as they are until many more were drawn. */
export function randomSalts(): Buffer {
  if (used === POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  return POOL.subarray(used, (used += ALL_SIZE));
}

/** The same on every copy: the first bytes of SHA-512 of the message's nonce and the index (32 bits, big-endian). */
export function saltsOf(nonce: Uint8Array, index: number): Buffer {
  const input = Buffer.alloc(nonce.length + 4);
  input.set(nonce);
  input.writeUInt32BE(index, nonce.length);
  return hash('sha512', input, 'buffer').subarray(0, ALL_SIZE);
}

export function bodySalt(salts: Uint8Array): Uint8Array {
  return salts.subarray(0, SIZE);
}

export function keySalt(salts: Uint8Array): Uint8Array {
  return salts.subarray(SIZE, 2 * SIZE);
}

/** For `entryId`. */
export function idSalt(salts: Uint8Array): number {
  return Buffer.from(salts.buffer, salts.byteOffset).readUInt32BE(2 * SIZE) % SALTS;
}
