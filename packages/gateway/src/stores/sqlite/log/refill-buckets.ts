/** Makes buckets of idempotency keys again from the entries. */
import type { DatabaseSync } from 'node:sqlite';

import { BlockReader, type SeqSpan } from './block-reader.ts';
import { type BucketKey, bucketsOf, KeyBuckets, prefixOf } from './key-buckets.ts';
import { keyIn } from './key-column.ts';

/** Within the caller's transaction. `keys`: all that `keysIn` finds. */
export function refillBuckets(
  buckets: KeyBuckets,
  numbers: ReadonlySet<number>,
  keys: Iterable<BucketKey>,
): void {
  for (const number of numbers) buckets.clear(number);
  for (const { prefix, seq } of keys) buckets.add(prefix, seq);
}

/** Buckets of which the keys are in memory together. The log is read once for so many. */
const MAX_REPAIRED = 64;

/**
 * The same beside a gateway that may be running: it waits only while the keys are written, not while
 * the log is read.
 */
export function repairBuckets(db: DatabaseSync, numbers: ReadonlySet<number>): void {
  const all = [...numbers];
  for (let at = 0; at < all.length; at += MAX_REPAIRED)
    repairSome(db, new Set(all.slice(at, at + MAX_REPAIRED)));
}

function repairSome(db: DatabaseSync, numbers: ReadonlySet<number>): void {
  const log = new BlockReader(db);
  const head = log.lastSeq();
  const keys = [...keysIn(log, { from: 1, to: head }, numbers)];
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const key of keysIn(log, { from: head + 1, to: log.lastSeq() }, numbers)) keys.push(key);
    refillBuckets(new KeyBuckets(db), numbers, keys);
    db.exec('COMMIT');
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
}

/** The keys of entries that belong into these buckets, or into those that they were split into. */
export function* keysIn(
  log: BlockReader,
  span: SeqSpan,
  numbers: ReadonlySet<number>,
): Generator<BucketKey> {
  const last = Math.max(...numbers);
  for (const { seq, key } of log.rows(span)) {
    if (key === undefined) continue;
    const prefix = prefixOf(keyIn(key));
    for (const bucket of bucketsOf(prefix)) {
      if (bucket > last) break;
      if (!numbers.has(bucket)) continue;
      yield { prefix, seq };
      break;
    }
  }
}
