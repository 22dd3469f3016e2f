/**
 * The column `key` of an entry, which makes its idempotency key part of what its link covers: 16
 * random bytes, then the digest of the key. The link is made of the SHA-256 of the column, which can
 * be published without the key: the random bytes keep it from being guessed.
 *
 * Format 1 had keys in a table of their own, which no link covered. Migrated entries keep their
 * links, and have a SHA-256 over both at the end of the column instead.
 */
import { randomBytes } from 'node:crypto';

import { sha256 } from './sha256.ts';

const SALT_SIZE = 16;
const SIZE = SALT_SIZE + 32;
const MIGRATED_SIZE = SIZE + 32;

export function keyColumn(key: Uint8Array): Uint8Array {
  return Buffer.concat([randomBytes(SALT_SIZE), key]);
}

/** The column of an entry that was stored in format 1. */
export function migratedKeyColumn(key: Uint8Array): Uint8Array {
  const column = keyColumn(key);
  return Buffer.concat([column, sha256(column)]);
}

/** What the link of an entry is made of beside its text; undefined where its key is not. */
export function linkedKey(column: Uint8Array | null): Uint8Array | undefined {
  return column?.length === SIZE ? sha256(column) : undefined;
}

/** The column as it would be with this key. */
export function withKey(column: Uint8Array, key: Uint8Array): Uint8Array {
  return Buffer.concat([column.subarray(0, SALT_SIZE), key]);
}

/** SQL for the digest of the key in a column. */
export const KEY_IN_COLUMN: string = `substr(key, ${SALT_SIZE + 1}, ${SIZE - SALT_SIZE})`;

export function keyIn(column: Uint8Array): Uint8Array {
  return column.subarray(SALT_SIZE, SIZE);
}

/** What is wrong with the column by itself; undefined where only the link can tell. */
export function keyColumnFault(column: Uint8Array | null): string | undefined {
  if (column === null || column.length === SIZE) return undefined;
  if (column.length !== MIGRATED_SIZE) return `has an idempotency key of ${column.length} bytes`;
  const checksum = sha256(column.subarray(0, SIZE));
  if (Buffer.compare(checksum, column.subarray(SIZE)) === 0) return undefined;
  return 'has an idempotency key that has changed';
}
