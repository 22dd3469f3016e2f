/**
 * Reads the log and writes the words of all string values to the full-text index. Never slows a
 * commit, and owns nothing that cannot be rebuilt from the log.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { assertStorageFault, StorageFault } from '../../../storage-fault.ts';
import {
  type OnSpoiled,
  openForReading,
  PositionWriter,
  readMeta,
  readMetaSeq,
} from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { BlockReader, type SeqSpan } from '../log/block-reader.ts';
import type { EntryRow } from '../log/record.ts';
import { largeChunksSync } from '../log/large-files.ts';
import { unerased } from '../log/withheld-table.ts';
import type { SharedState } from '../shared-state.ts';
import { EntryWords, LargeRowWriter, writeLargeRows } from './entry-words.ts';
import { largeRowId } from './fts.ts';
import { PageSums } from './page-sums.ts';
import { PartWriter } from './parts.ts';
import { removeWords } from './remove-words.ts';
import { openWords } from './words-database.ts';

/** Maximum number of entries, and approximate maximum of bytes, per transaction. */
const BATCH_ENTRIES = 4096;
const BATCH_SIZE = 4 * 1024 * 1024;
/** Removing an entry takes about as long as indexing so many. */
const COST_OF_REMOVING = 256;
/** Pages that are merged at once. */
const MERGE_PAGES = 64;
/** FTS5 changes fewer rows where there is nothing to merge. */
const MIN_MERGE_CHANGES = 2;

export class WordIndexer {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #log: DatabaseSync;
  readonly #db: DatabaseSync;
  readonly #blocks: BlockReader;
  readonly #add: StatementSync;
  readonly #merge: StatementSync;
  readonly #changes: StatementSync;
  readonly #position: PositionWriter;
  readonly #setCount: StatementSync;
  readonly #parts: PartWriter;
  readonly #sums: PageSums;
  readonly #words = new EntryWords();
  /** Rows of the full-text index. */
  #count: number;

  constructor(paths: DataPaths, shared: SharedState, onSpoiled: OnSpoiled) {
    this.#paths = paths;
    this.#shared = shared;
    // A small cache: the log is read once, in order.
    this.#log = openForReading(paths.log, 256);
    const logId = String(readMeta(this.#log, 'name') ?? '');
    this.#db = openWords(paths, logId, shared.head, onSpoiled);
    this.#blocks = new BlockReader(this.#log);
    this.#add = this.#db.prepare('INSERT INTO texts (rowid, words) VALUES (?, ?)');
    this.#add.setReadBigInts(true);
    this.#merge = this.#db.prepare("INSERT INTO texts (texts, rank) VALUES ('merge', ?)");
    this.#merge.setReadBigInts(true);
    this.#changes = this.#db.prepare('SELECT total_changes() AS changes');
    this.#position = new PositionWriter(this.#db, 'searched', (seq) => this.#blocks.linkAt(seq));
    this.#setCount = this.#db.prepare("INSERT OR REPLACE INTO meta VALUES ('rows', ?)");
    // `run` returns the last row id, which may be that of a large entry.
    this.#setCount.setReadBigInts(true);
    this.#parts = new PartWriter(this.#db);
    this.#count = readMetaSeq(this.#db, 'rows');
    this.#sums = new PageSums(this.#db, paths.search);
  }

  /** Lets searches find what is indexed. Call before `step`. */
  start(): void {
    this.#shared.searched = readMetaSeq(this.#db, 'searched');
  }

  /** Indexes the next entries, if there are any. Adds none if the signal aborts it. */
  async step(signal: AbortSignal): Promise<void> {
    const from = this.#shared.searched;
    const last = Math.min(this.#shared.head, from + BATCH_ENTRIES);
    if (last <= from) return;
    const count = this.#count;
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const larges: EntryRow[] = [];
      const to = this.#addSmall(from, last, larges);
      // After the small ones: FTS5 inserts ascending row ids at the least cost.
      for (const { seq, large } of larges) await this.#addLarge(seq, large ?? '', signal);
      signal.throwIfAborted();
      this.#parts.flush();
      this.#setCount.run(this.#count);
      this.#position.write(to);
      this.#db.exec('COMMIT');
      this.#shared.searched = to;
      this.#sums.committed();
    } finally {
      if (this.#db.isTransaction) {
        this.#db.exec('ROLLBACK');
        this.#parts.reset();
        this.#count = count;
      }
    }
  }

  /**
   * Merges segments of the index, which makes searches shorter: some pages at once. Returns whether there
   * may be more to merge.
   */
  merge(): boolean {
    const before = this.#totalChanges();
    this.#merge.run(MERGE_PAGES);
    this.#sums.committed();
    return this.#totalChanges() - before >= MIN_MERGE_CHANGES;
  }

  #totalChanges(): number {
    return this.#changes.get()?.['changes'] as number;
  }

  /**
   * Removes the words of entries that were withheld and can still be read, and leaves no trace of them in
   * the files. Returns false where making the index again costs less.
   */
  async erase(signal: AbortSignal): Promise<boolean> {
    const seqs = unerased(this.#log);
    if (seqs.length * COST_OF_REMOVING > this.#shared.head) return false;
    const log = { paths: this.#paths, blocks: this.#blocks };
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      this.#count -= await removeWords(this.#db, log, seqs, signal);
      this.#setCount.run(this.#count);
      this.#db.exec('COMMIT');
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#count = readMetaSeq(this.#db, 'rows');
    }
    // Pages that SQLite has freed, or moved bytes from, still have what they had.
    this.#db.exec('VACUUM');
    this.#sums.truncateWal();
    return true;
  }

  /** Compares the whole index with its checksums, a part in each step. Throws where it has changed. */
  check(): Generator<void, void, undefined> {
    return this.#sums.check();
  }

  close(): void {
    try {
      this.#sums.close();
    } finally {
      this.#log.close();
    }
  }

  /** Returns the seq up to which it has read. Collects the large entries. */
  #addSmall(from: Seq, last: Seq, larges: EntryRow[]): Seq {
    let size = 0;
    for (const row of this.#readRows({ from: from + 1, to: last })) {
      if (row.withheld !== undefined) continue;
      if (row.large !== undefined) larges.push(row);
      else
        this.#addRow(BigInt(row.seq), row.text.length, (prefix) => this.#words.read(row, prefix));
      size += row.text.length;
      if (size >= BATCH_SIZE) return row.seq;
    }
    return last;
  }

  /** `size`: bytes of its text. */
  #addRow(rowId: bigint, size: number, wordsWith: (prefix: string) => string | Uint8Array): void {
    this.#add.run(rowId, wordsWith(this.#parts.prefixFor(rowId)));
    this.#parts.add(rowId, size);
    this.#count += 1;
  }

  /** Wraps faults, so that a failing log is not taken for a damaged full-text index. */
  *#readRows(span: SeqSpan): Generator<EntryRow, void, undefined> {
    try {
      yield* this.#blocks.rows(span);
    } catch (error) {
      assertStorageFault(error);
      throw new StorageFault(`Cannot read the log: ${error.message}`, { cause: error });
    }
  }

  async #addLarge(seq: Seq, name: string, signal: AbortSignal): Promise<void> {
    const row = new LargeRowWriter(
      (part) => this.#parts.prefixFor(largeRowId(seq, part)),
      (part, words, size) => this.#addRow(largeRowId(seq, part), size, () => words),
    );
    await writeLargeRows(row, largeChunksSync(this.#paths, name), signal);
  }
}
