/**
 * The table that finds the entries of an idempotency key. Derived from the entries, and never asked
 * without a check: where it answers that there is no entry, a retry is stored as a new one.
 *
 * A bucket holds the keys whose SHA-256 begins with the same bits. Its number is those bits behind a 1.
 * A bucket that is full is split into 16: it says so from then on, and holds nothing. All first buckets
 * exist from the start, and all 16 of one that is split, so that one that is not found is spoiled, not
 * empty. Each begins with a CRC-32 over its number and the rest.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

import type { Seq } from '../../../log/log.ts';
import { SpoiledBucket } from '../database.ts';

// Without rowids, SQLite takes no page of another table for one of this, not even by a wrong pointer.
export const KEY_BUCKETS_TABLE = `CREATE TABLE key_buckets
  (bucket INTEGER PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID, STRICT`;

/** A key as a bucket has it. */
export interface BucketKey {
  /** The first bytes of the digest. Other keys may begin with the same. */
  readonly prefix: Buffer;
  readonly seq: Seq;
}

interface KeysOfBucket {
  readonly number: number;
  readonly keys: readonly BucketKey[];
}

interface FoundBucket {
  readonly number: number;
  /** Of entries that may have the key, in the order in which they were added. */
  readonly seqs: readonly Seq[];
}

interface Bucket {
  readonly number: number;
  readonly data: Buffer;
}

/** Buckets that exist from the start, one for each value of the first 12 bits. */
const FIRST_BUCKETS = 4096;
const FANOUT = 16;
/** Only buckets with lower numbers are split: the numbers and their logarithms are exact then. */
const MAX_SPLIT = 2 ** 40;

const CHECK_SIZE = 4;
const HEADER_SIZE = CHECK_SIZE + 1;
const IS_SPLIT = 1;
const PREFIX_SIZE = 8;
const RECORD_SIZE = PREFIX_SIZE + 8;
/** Larger rows would not fit into a page of SQLite, which holds at least four. */
const FULL_SIZE = HEADER_SIZE + 60 * RECORD_SIZE;

export class KeyBuckets {
  readonly #get: StatementSync;
  readonly #put: StatementSync;
  /** Where `find` looked last: reading it again would cost as much as the rest of `add`. */
  #last: { readonly key: Uint8Array; readonly leaf: Bucket } | undefined;

  constructor(db: DatabaseSync) {
    this.#get = db.prepare('SELECT data FROM key_buckets WHERE bucket = ?');
    this.#put = db.prepare('INSERT OR REPLACE INTO key_buckets VALUES (?, ?)');
  }

  /** Makes the first buckets of an empty table. */
  create(): void {
    for (let first = 0; first < FIRST_BUCKETS; first += 1) this.clear(FIRST_BUCKETS + first);
  }

  /** Removes all keys of a bucket, and of those that it was split into. */
  clear(bucket: number): void {
    this.#write(bucket, Buffer.alloc(HEADER_SIZE));
  }

  /** The table must be as it was at the last `find`, if that was for this very key. */
  add(key: Uint8Array, seq: Seq): void {
    const { number, data } = this.#last?.key === key ? this.#last.leaf : this.#leafOf(key);
    this.#last = undefined;
    if (data.length >= FULL_SIZE && number < MAX_SPLIT) {
      this.#split(number, data);
      this.add(key, seq);
      return;
    }
    const grown = Buffer.allocUnsafe(data.length + RECORD_SIZE);
    grown.set(data);
    grown.set(key.subarray(0, PREFIX_SIZE), data.length);
    grown.writeDoubleLE(seq, data.length + PREFIX_SIZE);
    this.#write(number, grown);
  }

  /** Throws `SpoiledBucket` where it is unknown which entries may have the key. */
  find(key: Uint8Array): FoundBucket {
    const leaf = this.#leafOf(key);
    const { number, data } = leaf;
    this.#last = { key, leaf };
    const seqs: Seq[] = [];
    for (let at = HEADER_SIZE; at < data.length; at += RECORD_SIZE)
      if (data.compare(key, 0, PREFIX_SIZE, at, at + PREFIX_SIZE) === 0)
        seqs.push(data.readDoubleLE(at + PREFIX_SIZE));
    return { number, seqs };
  }

  /** Every bucket that is not split, or why one is unknown. */
  *all(): Generator<KeysOfBucket | SpoiledBucket> {
    for (let first = 0; first < FIRST_BUCKETS; first += 1)
      yield* this.#allIn(FIRST_BUCKETS + first);
  }

  *#allIn(number: number): Generator<KeysOfBucket | SpoiledBucket> {
    const data = this.#readOrSpoiled(number);
    if (data instanceof SpoiledBucket) yield data;
    else if (data[CHECK_SIZE] !== IS_SPLIT) yield { number, keys: keysOf(data) };
    else
      for (let child = 0; child < FANOUT; child += 1) yield* this.#allIn(number * FANOUT + child);
  }

  #leafOf(key: Uint8Array): Bucket {
    for (const number of bucketsOf(key)) {
      const data = this.#read(number);
      if (data[CHECK_SIZE] !== IS_SPLIT) return { number, data };
    }
    throw new Error('A bucket was split that cannot be.');
  }

  #split(bucket: number, data: Buffer): void {
    const children: Buffer[][] = Array.from({ length: FANOUT }, () => [Buffer.alloc(HEADER_SIZE)]);
    for (let at = HEADER_SIZE; at < data.length; at += RECORD_SIZE) {
      const record = data.subarray(at, at + RECORD_SIZE);
      children[childOf(bucket, record)]?.push(record);
    }
    for (const [child, parts] of children.entries())
      this.#write(bucket * FANOUT + child, Buffer.concat(parts));
    this.#write(bucket, Buffer.alloc(HEADER_SIZE, IS_SPLIT));
  }

  #read(bucket: number): Buffer {
    const data = this.#get.get(bucket)?.['data'];
    if (!(data instanceof Uint8Array) || data.length < HEADER_SIZE) throw new SpoiledBucket(bucket);
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
    if (bytes.readUInt32LE(0) !== checkOf(bucket, bytes)) throw new SpoiledBucket(bucket);
    return bytes;
  }

  #readOrSpoiled(bucket: number): Buffer | SpoiledBucket {
    try {
      return this.#read(bucket);
    } catch (error) {
      if (error instanceof SpoiledBucket) return error;
      throw error;
    }
  }

  #write(bucket: number, data: Buffer): void {
    data.writeUInt32LE(checkOf(bucket, data), 0);
    this.#put.run(bucket, data);
  }
}

/** The buckets that a key is in, or would be if those before were split. */
export function* bucketsOf(key: Uint8Array): Generator<number> {
  let bucket = FIRST_BUCKETS + (((key[0] ?? 0) << 4) | ((key[1] ?? 0) >> 4));
  for (;;) {
    yield bucket;
    if (bucket >= MAX_SPLIT) return;
    bucket = bucket * FANOUT + childOf(bucket, key);
  }
}

export function prefixOf(key: Uint8Array): Buffer {
  return Buffer.from(key.subarray(0, PREFIX_SIZE));
}

/** Into which of the 16 a key goes: its next four bits. */
function childOf(bucket: number, key: Uint8Array): number {
  const bits = Math.floor(Math.log2(bucket));
  const byte = key[bits >> 3] ?? 0;
  return bits % 8 === 0 ? byte >> 4 : byte & 15;
}

function keysOf(data: Buffer): BucketKey[] {
  const keys: BucketKey[] = [];
  for (let at = HEADER_SIZE; at < data.length; at += RECORD_SIZE) {
    const prefix = data.subarray(at, at + PREFIX_SIZE);
    keys.push({ prefix, seq: data.readDoubleLE(at + PREFIX_SIZE) });
  }
  return keys;
}

function checkOf(bucket: number, data: Uint8Array): number {
  const high = Math.floor(bucket / 2 ** 32);
  return crc32(data.subarray(CHECK_SIZE), ((bucket % 2 ** 32) ^ high) >>> 0);
}
