/** Compares the buckets of idempotency keys with the entries, in both directions. */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { isSpoiled, SpoiledBucket } from '../database.ts';
import { BlockReader, type SeqSpan } from './block-reader.ts';
import type { LogFault } from './chain-verifier.ts';
import { type BucketKey, KeyBuckets, prefixOf } from './key-buckets.ts';
import { keyIn } from './key-column.ts';

const PAGE_SEQS = 4096;

export interface KeyFault extends LogFault {
  /** The bucket that has to be made again. */
  readonly bucket: number;
}

/** Yields the faults of each page: the caller may do something else in between. */
export function* verifyKeys(db: DatabaseSync, head: Seq): Generator<readonly KeyFault[]> {
  const log = new BlockReader(db);
  for (let at = 0; at < head; at += PAGE_SEQS)
    yield unfoundKeys(db, log, { from: at + 1, to: Math.min(head, at + PAGE_SEQS) });
  for (const found of new KeyBuckets(db).all()) {
    if (!(found instanceof SpoiledBucket)) yield wrongKeys(log, found.number, found.keys);
    else yield [{ seq: undefined, bucket: found.bucket, description: DESCRIPTION }];
  }
}

const DESCRIPTION = 'a bucket of the idempotency keys is not what was stored';

/** Entries in the span that are not found by their key. Leaves out those that cannot be read. */
export function unfoundKeys(
  db: DatabaseSync,
  log: BlockReader,
  span: SeqSpan,
): readonly KeyFault[] {
  const buckets = new KeyBuckets(db);
  const faults: KeyFault[] = [];
  const description = 'is not found by its idempotency key';
  for (const { seq, key } of log.rows(span)) {
    const bucket = key && bucketWithout(buckets, keyIn(key), seq);
    if (bucket !== undefined) faults.push({ seq, bucket, description });
  }
  return faults;
}

/** The bucket that should lead from the key to the entry; undefined if it does. */
function bucketWithout(buckets: KeyBuckets, key: Uint8Array, seq: Seq): number | undefined {
  try {
    const { number, seqs } = buckets.find(key);
    return seqs.includes(seq) ? undefined : number;
  } catch (error) {
    if (error instanceof SpoiledBucket) return error.bucket;
    throw error;
  }
}

/** Keys that lead to an entry that has another, or is not there. */
function wrongKeys(log: BlockReader, bucket: number, keys: readonly BucketKey[]): KeyFault[] {
  return keys.flatMap(({ prefix, seq }) => {
    const description = describeWrongKey(log, seq, prefix);
    return description === undefined ? [] : [{ seq, bucket, description }];
  });
}

function describeWrongKey(log: BlockReader, seq: Seq, prefix: Uint8Array): string | undefined {
  try {
    const entry = log.entry(seq);
    if (entry === undefined) return 'has an idempotency key, but is not there';
    const isOwn = entry.key !== undefined && prefixOf(keyIn(entry.key)).equals(prefix);
    return isOwn ? undefined : 'is found by an idempotency key that is not its own';
  } catch (error) {
    // The entry is reported by itself.
    if (isSpoiled(error)) return undefined;
    throw error;
  }
}
