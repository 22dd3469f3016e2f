/**
 * Finds the entry of an idempotency key, and compares it with the draft that has the same key. What
 * `Keys` says is checked against the entry before it refuses a draft.
 */
import { createHash } from 'node:crypto';

import type { Seq } from '../../../log/log.ts';
import { isDiskFull, isSpoiled } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import type { PackedDraft } from '../../../log/packed-drafts.ts';
import type { RowReader } from '../log/row-reader.ts';
import type { EntryRow } from '../log/entry-row.ts';
import { digestOf, FIRST_LINK, linkOf } from '../log/chain.ts';
import { keyIn, withKey } from '../log/key-column.ts';
import type { Keys } from './keys.ts';
import { largeChunksSync } from '../large/large-files.ts';
import { sha256 } from '../log/sha256.ts';

interface KeyedEntry {
  readonly row: EntryRow;
  /** The link of the entry before; undefined where that is missing. */
  readonly previous: Uint8Array | undefined;
}

export interface FoundKey {
  readonly outcome: 'repeated' | 'conflict' | 'unavailable' | 'out-of-space';
  /** Undefined if it is unavailable: it cannot be read, or it is unknown now which one it is. */
  readonly entry: EntryRow | undefined;
}

const OUT_OF_SPACE: FoundKey = { outcome: 'out-of-space', entry: undefined };
const UNAVAILABLE: FoundKey = { outcome: 'unavailable', entry: undefined };

interface KeyedDraft {
  readonly key: Uint8Array;
  readonly draft: PackedDraft;
  /** Of the body. */
  readonly digest: Uint8Array;
}

export class KeyLookup {
  readonly #paths: DataPaths;
  readonly #reader: RowReader;
  readonly #keys: Keys;

  constructor(paths: DataPaths, reader: RowReader, keys: Keys) {
    this.#paths = paths;
    this.#reader = reader;
    this.#keys = keys;
  }

  /** The entry with the key, and whether it is the draft. `digest`: of the draft's body. */
  find(key: Uint8Array, draft: PackedDraft, digest: Uint8Array): FoundKey | undefined {
    const seqs = this.#keys.find(key);
    if (seqs === undefined) {
      const { fault } = this.#keys;
      return fault && isDiskFull(fault) ? OUT_OF_SPACE : UNAVAILABLE;
    }
    try {
      for (const seq of seqs) {
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
      return this.#reader.linkOf(seq);
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
