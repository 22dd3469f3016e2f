/**
 * Finds the entry of an idempotency key. The table `keys` is derived from the entries. What it says
 * is checked against the entry before it refuses a draft, and put right where it is wrong.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import type { PackedDraft } from './batch.ts';
import { KEY_IN_COLUMN, keyColumnFault, keyIn, linkedKey, withKey } from './key-column.ts';
import { largeChunksSync } from './large-files.ts';
import { type EntryRow, FIRST_LINK, linkOf } from './log-database.ts';
import { sha256 } from './sha256.ts';

interface KeyedEntry extends Omit<EntryRow, 'seq' | 'time'> {
  /** The link of the entry before; undefined where that is missing. */
  readonly previous: Uint8Array | undefined;
}

export interface FoundKey {
  readonly seq: Seq;
  readonly outcome: 'repeated' | 'conflict';
}

export class KeyLookup {
  readonly #paths: DataPaths;
  readonly #find: StatementSync;
  readonly #scan: StatementSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #entry: StatementSync;
  readonly #link: StatementSync;

  constructor(db: DatabaseSync, paths: DataPaths) {
    this.#paths = paths;
    this.#find = db.prepare('SELECT seq FROM keys WHERE key = ?');
    this.#scan = db.prepare(`SELECT min(seq) AS seq FROM entries WHERE ${KEY_IN_COLUMN} = ?`);
    this.#put = db.prepare('INSERT OR REPLACE INTO keys VALUES (?, ?)');
    this.#remove = db.prepare('DELETE FROM keys WHERE key = ?');
    this.#entry = db.prepare(
      'SELECT kind, room, head, size, large, link, key, text FROM entries WHERE seq = ?',
    );
    this.#link = db.prepare('SELECT link FROM entries WHERE seq = ?');
  }

  put(key: Uint8Array, seq: Seq): void {
    this.#put.run(key, seq);
  }

  /** The entry with the key, and whether it is the draft. `digest`: of the draft's body. */
  find(key: Uint8Array, draft: PackedDraft, digest: Uint8Array): FoundKey | undefined {
    const seq = this.#find.get(key)?.['seq'];
    if (seq === undefined) return undefined;
    const outcome = this.#compare(Number(seq), { key, draft, digest });
    if (outcome !== 'other key') return { seq: Number(seq), outcome };
    return this.#findInEntries(key, draft, digest);
  }

  /** Reads the whole log: only where the table is spoiled. */
  #findInEntries(key: Uint8Array, draft: PackedDraft, digest: Uint8Array): FoundKey | undefined {
    const seq = this.#scan.get(key)?.['seq'];
    if (typeof seq !== 'number') {
      this.#remove.run(key);
      return undefined;
    }
    this.#put.run(key, seq);
    const outcome = this.#compare(seq, { key, draft, digest });
    return { seq, outcome: outcome === 'repeated' ? outcome : 'conflict' };
  }

  #compare(seq: Seq, request: KeyedDraft): FoundKey['outcome'] | 'other key' {
    const entry = this.#entryAt(seq);
    if (entry === undefined) return 'other key';
    const { key } = entry;
    if (isProvenSame(entry, request)) return 'repeated';
    const digest =
      key !== null && hasSameSize(entry, request.draft) ? this.#digestOf(entry) : undefined;
    const outcome = hasSameContent(entry, request, digest) ? 'repeated' : 'conflict';
    if (key !== null && equal(keyIn(key), request.key)) return outcome;
    // Either the table or the column is wrong.
    return isIntact(entry, digest ?? this.#digestOf(entry)) ? 'other key' : outcome;
  }

  #entryAt(seq: Seq): KeyedEntry | undefined {
    const row = this.#entry.get(seq);
    if (row === undefined) return undefined;
    const previous = seq === 1 ? FIRST_LINK : this.#link.get(seq - 1)?.['link'];
    return {
      ...(row as unknown as Omit<KeyedEntry, 'previous'>),
      previous: previous as Uint8Array,
    };
  }

  /** Of the body that is stored. */
  #digestOf({ large, head, text }: KeyedEntry): Uint8Array {
    if (large === null) return sha256(text.subarray(head + 1, -1));
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

interface KeyedDraft {
  readonly key: Uint8Array;
  readonly draft: PackedDraft;
  /** Of the body. */
  readonly digest: Uint8Array;
}

/** Whether the entry's link was made of this key and this body. */
function isProvenSame(entry: KeyedEntry, { key, draft, digest }: KeyedDraft): boolean {
  const { previous, link, text, head } = entry;
  if (entry.key === null || previous === undefined || !hasSamePlace(entry, draft)) return false;
  const isLinked = linkedKey(entry.key) !== undefined;
  if (!isLinked && !equal(keyIn(entry.key), key)) return false;
  const linked = isLinked ? linkedKey(withKey(entry.key, key)) : undefined;
  return equal(linkOf(previous, text.subarray(0, head), digest, linked), link);
}

/** Whether the column holds the key that the entry was stored with. */
function isIntact({ previous, link, text, head, key }: KeyedEntry, digest: Uint8Array): boolean {
  if (key !== null && keyColumnFault(key) !== undefined) return false;
  if (previous === undefined) return false;
  return equal(linkOf(previous, text.subarray(0, head), digest, linkedKey(key)), link);
}

function hasSameContent(
  entry: KeyedEntry,
  { draft, digest }: KeyedDraft,
  stored: Uint8Array | undefined,
): boolean {
  return stored !== undefined && hasSamePlace(entry, draft) && equal(stored, digest);
}

function hasSamePlace({ kind, room }: KeyedEntry, draft: PackedDraft): boolean {
  return kind === draft.kind && room === draft.room;
}

/** Without it, a large body need not be read to know that it is another one. */
function hasSameSize({ size, head }: KeyedEntry, { body, large }: PackedDraft): boolean {
  const bodySize = large === undefined ? body.length : large.size - 1;
  return size - head === (bodySize === 0 ? 1 : bodySize + 2);
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
