/**
 * The key column of an entry, which makes its idempotency key part of what its link covers: 16 random
 * bytes, then the digest of the key. The link is made of the SHA-256 of the column, which can be
 * published without the key: the random bytes keep it from being guessed.
 */
const KEY_SALT_SIZE = 16;
export const KEY_COLUMN_SIZE: number = KEY_SALT_SIZE + 32;

export function keyColumn(salt: Uint8Array, key: Uint8Array): Buffer {
  return Buffer.concat([salt, key], KEY_COLUMN_SIZE);
}

export function withKey(column: Uint8Array, key: Uint8Array): Buffer {
  return keyColumn(column.subarray(0, KEY_SALT_SIZE), key);
}

export function keyIn(column: Uint8Array): Uint8Array {
  return column.subarray(KEY_SALT_SIZE, KEY_COLUMN_SIZE);
}
