/**
 * Finds the entry of an idempotency key. The buckets of keys are derived from the entries: one that is
 * spoiled is made again from them before there is an answer. What a bucket says is checked against the
 * entry before it refuses a draft.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { isSpoiled, SpoiledBucket } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import type { PackedDraft } from '../../../log/packed-drafts.ts';
import type { BlockReader } from './block-reader.ts';
import type { BlockWriter } from './block-writer.ts';
import type { EntryRow } from './record.ts';
import { digestOf, FIRST_LINK, linkOf } from './chain.ts';
import { KeyBuckets } from './key-buckets.ts';
import { keyIn, withKey } from './key-column.ts';
import { largeChunksSync } from './large-files.ts';
import { keysIn, refillBuckets } from './refill-buckets.ts';
import { sha256 } from './sha256.ts';

interface KeyedEntry {
  readonly row: EntryRow;
  /** The link of the entry before; undefined where that is missing. */
  readonly previous: Uint8Array | undefined;
}

export interface FoundKey {
  readonly outcome: 'repeated' | 'conflict' | 'unavailable';
  /** Undefined if it is unavailable, because it cannot be read. */
  readonly entry: EntryRow | undefined;
}

const UNAVAILABLE: FoundKey = { outcome: 'unavailable', entry: undefined };

interface KeyedDraft {
  readonly key: Uint8Array;
  readonly draft: PackedDraft;
  /** Of the body. */
  readonly digest: Uint8Array;
}

export class KeyLookup {
  readonly #db: DatabaseSync;
  readonly #paths: DataPaths;
  readonly #reader: BlockReader;
  readonly #writer: BlockWriter;
  readonly #buckets: KeyBuckets;
  #rebuilt: SpoiledBucket | undefined;

  /** `writer`: may have entries of which the keys are here already. */
  constructor(db: DatabaseSync, paths: DataPaths, reader: BlockReader, writer: BlockWriter) {
    this.#db = db;
    this.#paths = paths;
    this.#reader = reader;
    this.#writer = writer;
    this.#buckets = new KeyBuckets(db);
  }

  /** Why a bucket was made again since the last call; undefined if none was. */
  takeRebuilt(): Error | undefined {
    const rebuilt = this.#rebuilt;
    this.#rebuilt = undefined;
    return rebuilt;
  }

  /** To be called after `find`, for a key that it did not find. */
  put(key: Uint8Array, seq: Seq): void {
    this.#buckets.add(key, seq);
  }

  /** The entry with the key, and whether it is the draft. `digest`: of the draft's body. */
  find(key: Uint8Array, draft: PackedDraft, digest: Uint8Array): FoundKey | undefined {
    try {
      for (const seq of this.#seqsOf(key)) {
        if (seq >= this.#writer.firstUnstored) this.#writer.flush();
        const entry = this.#entryAt(seq);
        // The log has lost it: whether it is the draft is unknown.
        if (entry === undefined) return UNAVAILABLE;
        const outcome = this.#compare(entry, { key, draft, digest });
        if (outcome !== undefined) return { outcome, entry: entry.row };
      }
      return undefined;
    } catch (error) {
      // What cannot be read for one draft must not fail the drafts beside it.
      if (isSpoiled(error)) return UNAVAILABLE;
      throw error;
    }
  }

  /** Reads the whole log where a bucket is spoiled. */
  #seqsOf(key: Uint8Array): readonly Seq[] {
    try {
      return this.#buckets.find(key).seqs;
    } catch (error) {
      if (!(error instanceof SpoiledBucket)) throw error;
      this.#writer.flush();
      this.#refill(error.bucket);
      this.#rebuilt = error;
      return this.#buckets.find(key).seqs;
    }
  }

  /** As a whole: the commit goes on where it fails. */
  #refill(bucket: number): void {
    const db = this.#db;
    const span = { from: 1, to: this.#reader.lastSeq() };
    const numbers = new Set([bucket]);
    db.exec('SAVEPOINT refill');
    try {
      refillBuckets(this.#buckets, numbers, keysIn(this.#reader, span, numbers));
      db.exec('RELEASE refill');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK TO refill; RELEASE refill');
      throw error;
    }
  }

  /** Undefined if the entry has another key. */
  #compare(entry: KeyedEntry, request: KeyedDraft): 'repeated' | 'conflict' | undefined {
    const { key } = entry.row;
    if (entry.row.withheld !== undefined) return compareWithheld(entry.row, request);
    if (isProvenSame(entry, request)) return 'repeated';
    const digest =
      key !== undefined && hasSameSize(entry.row, request.draft)
        ? this.#digestOf(entry.row)
        : undefined;
    const outcome = hasSameContent(entry.row, request, digest) ? 'repeated' : 'conflict';
    if (key !== undefined && equal(keyIn(key), request.key)) return outcome;
    // Keys may begin with the same bytes; but if the column has changed, this is the one.
    return isIntact(entry, digest ?? this.#digestOf(entry.row)) ? undefined : outcome;
  }

  #entryAt(seq: Seq): KeyedEntry | undefined {
    const previous = seq === 1 ? FIRST_LINK : this.#linkAt(seq - 1);
    const row = this.#reader.entry(seq);
    return row && { row, previous };
  }

  #linkAt(seq: Seq): Uint8Array | undefined {
    try {
      return this.#reader.entry(seq)?.link;
    } catch (error) {
      if (isSpoiled(error)) return undefined;
      throw error;
    }
  }

  /** Of the body that is stored. */
  #digestOf({ large, head, text }: EntryRow): Uint8Array {
    if (large === undefined) return sha256(text.subarray(head + 1, -1));
    const hash = createHash('sha256');
    let last = Buffer.alloc(0);
    for (const chunk of largeChunksSync(this.#paths, large)) {
      if (chunk.length === 0) break;
      hash.update(last).update(chunk.subarray(0, -1));
      last = Buffer.from(chunk.subarray(-1));
    }
    return hash.digest();
  }
}

/** Whatever the body is: nobody knows which one the entry had. */
function compareWithheld(
  row: EntryRow,
  { key, draft }: KeyedDraft,
): 'repeated' | 'conflict' | undefined {
  if (row.key === undefined || !equal(keyIn(row.key), key)) return undefined;
  return hasSamePlace(row, draft) ? 'repeated' : 'conflict';
}

/** Whether the entry's link was made of this key and this body. */
function isProvenSame({ row, previous }: KeyedEntry, { key, draft, digest }: KeyedDraft): boolean {
  if (row.key === undefined || previous === undefined || !hasSamePlace(row, draft)) return false;
  return isLinked(row, previous, { keyHash: sha256(withKey(row.key, key)), body: digest });
}

/** Whether the column holds the key that the entry was stored with. */
function isIntact({ row, previous }: KeyedEntry, digest: Uint8Array): boolean {
  return previous !== undefined && isLinked(row, previous, { keyHash: row.keyHash, body: digest });
}

function isLinked(
  { link, salt, text, head, digest }: EntryRow,
  previous: Uint8Array,
  { keyHash, body }: { readonly keyHash: Uint8Array | undefined; readonly body: Uint8Array },
): boolean {
  const parts = { head: text.subarray(0, head), digest: digest ?? digestOf(salt, body), keyHash };
  return equal(linkOf(previous, parts), link);
}

function hasSameContent(
  row: EntryRow,
  { draft, digest }: KeyedDraft,
  stored: Uint8Array | undefined,
): boolean {
  return stored !== undefined && hasSamePlace(row, draft) && equal(stored, digest);
}

function hasSamePlace({ kind, room }: EntryRow, draft: PackedDraft): boolean {
  return kind === draft.kind && room === draft.room;
}

/** Without it, a large body need not be read to know that it is another one. */
function hasSameSize({ size, head }: EntryRow, { body, large }: PackedDraft): boolean {
  const bodySize = large === undefined ? body.length : large.size - 1;
  return size - head === (bodySize === 0 ? 1 : bodySize + 2);
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
