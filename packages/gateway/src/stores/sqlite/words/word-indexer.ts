/**
 * Reads the log and writes the words of all string values to the full-text index. Never slows a
 * commit, and owns nothing that cannot be rebuilt from the log.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTick } from 'node:timers/promises';

import { StringValueReader, stringValuesIn } from '../../../json/string-values.ts';
import type { Seq } from '../../../log/log.ts';
import { assertStorageFault, StorageFault } from '../../../storage-fault.ts';
import { MAX_CHUNK_LENGTH, tokenize, StreamTokenizer } from '../../../search/tokenizer.ts';
import {
  isSpoiled,
  type OnSpoiled,
  openForReading,
  PositionWriter,
  readMeta,
  readMetaSeq,
} from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { largeChunksSync } from '../log/large-files.ts';
import type { SharedState } from '../shared-state.ts';
import { largeRowId } from './fts.ts';
import { PageSums } from './page-sums.ts';
import { PartWriter } from './parts.ts';
import { openWords } from './words-database.ts';

/** Maximum number of entries, and approximate maximum of bytes, per transaction. */
const BATCH_ENTRIES = 4096;
const BATCH_SIZE = 4 * 1024 * 1024;
/** Bytes in a row of a large entry. After each `ROWS_PER_SIZE` rows it doubles. */
const ROW_SIZE = 64 * 1024;
const ROWS_PER_SIZE = 2 ** 20;
/** Ends each value, so that no phrase matches across two values. The tokenizer never returns it. */
const VALUE_END = '\uf8ff';

interface EntryRow {
  readonly seq: Seq;
  /** Bytes of the gateway's members. */
  readonly head: number;
  readonly large: string | null;
  readonly text: Uint8Array;
}

export class WordIndexer {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #log: DatabaseSync;
  readonly #db: DatabaseSync;
  readonly #rows: StatementSync;
  readonly #add: StatementSync;
  readonly #position: PositionWriter;
  readonly #setCount: StatementSync;
  readonly #parts: PartWriter;
  readonly #sums: PageSums;
  /** Rows of the full-text index. */
  #count: number;

  constructor(paths: DataPaths, shared: SharedState, onSpoiled: OnSpoiled) {
    this.#paths = paths;
    this.#shared = shared;
    // A small cache: the log is read once, in order.
    this.#log = openForReading(paths.log, 256);
    const logId = String(readMeta(this.#log, 'name') ?? '');
    this.#db = openWords(paths, logId, shared.head, onSpoiled);
    this.#rows = this.#log.prepare(
      'SELECT seq, head, large, text FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq',
    );
    this.#add = this.#db.prepare('INSERT INTO texts (rowid, words) VALUES (?, ?)');
    this.#add.setReadBigInts(true);
    this.#position = new PositionWriter(this.#db, this.#log, 'searched');
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

  /** Compares the whole index with its checksums, a part in each step. Throws where it has changed. */
  check(): Generator<void, void, undefined> {
    return this.#sums.check();
  }

  close(): void {
    this.#sums.close();
    this.#log.close();
  }

  /** Returns the seq up to which it has read. Collects the large entries. */
  #addSmall(from: Seq, last: Seq, larges: EntryRow[]): Seq {
    let size = 0;
    for (const result of this.#readRows(from, last)) {
      const row = result as unknown as EntryRow;
      if (row.large !== null) larges.push(row);
      else this.#addRow(BigInt(row.seq), row.text.length, (prefix) => wordsIn(row, prefix));
      size += row.text.length;
      if (size >= BATCH_SIZE) return row.seq;
    }
    return last;
  }

  /** `size`: bytes of its text. */
  #addRow(rowId: bigint, size: number, wordsWith: (prefix: string) => string): void {
    this.#add.run(rowId, wordsWith(this.#parts.prefixFor(rowId)));
    this.#parts.add(rowId, size);
    this.#count += 1;
  }

  /**
   * Leaves out what is in spoiled pages. Wraps other faults, so that a failing log is not taken for a
   * damaged full-text index.
   */
  *#readRows(from: Seq, last: Seq): Generator<Record<string, unknown>, void, undefined> {
    for (let at = from; at < last;) {
      try {
        for (const row of this.#rows.iterate(at, last)) {
          at = row['seq'] as Seq;
          yield row;
        }
        return;
      } catch (error) {
        assertStorageFault(error);
        const { message } = error;
        if (!isSpoiled(error))
          throw new StorageFault(`Cannot read the log after ${at}: ${message}`, { cause: error });
        at += 1;
      }
    }
  }

  async #addLarge(seq: Seq, name: string, signal: AbortSignal): Promise<void> {
    const row = new LargeRowWriter(
      (part) => this.#parts.prefixFor(largeRowId(seq, part)),
      (part, words, size) => this.#addRow(largeRowId(seq, part), size, () => words),
    );
    const words = new StreamTokenizer((more) => row.push(more));
    const reader = new StringValueReader({
      text(value: string): void {
        for (let at = 0; at < value.length; at += MAX_CHUNK_LENGTH) {
          words.push(value.slice(at, at + MAX_CHUNK_LENGTH));
        }
      },
      end(): void {
        words.end();
        row.push([VALUE_END]);
      },
    });
    for (const bytes of largeChunksSync(this.#paths, name)) {
      // Queries are answered in between.
      await nextTick();
      signal.throwIfAborted();
      reader.feed(bytes);
    }
    row.flush();
  }
}

/**
 * Divides the words of a large entry among rows. Collects a row in bytes that are used again: its
 * words as strings would outlive the collections of young garbage, and pile up.
 */
class LargeRowWriter {
  readonly #prefixOf: (part: number) => string;
  readonly #add: (part: number, words: string, size: number) => void;
  #prefix: string;
  #row = Buffer.allocUnsafe(2 * ROW_SIZE);
  #length = 0;
  /** Bytes of the words, without prefixes. */
  #size = 0;
  #part = 0;

  /**
   * `add` is called with each row: its number, its words, each behind the prefix of the row, and the
   * bytes of the words without it.
   */
  constructor(
    prefixOf: (part: number) => string,
    add: (part: number, words: string, size: number) => void,
  ) {
    this.#prefixOf = prefixOf;
    this.#add = add;
    this.#prefix = prefixOf(this.#part);
  }

  push(words: readonly string[]): void {
    if (words.length === 0) return;
    const prefix = this.#prefix;
    const joined = `${prefix}${words.join(` ${prefix}`)} `;
    const end = this.#length + Buffer.byteLength(joined);
    this.#size += end - this.#length - words.length * prefix.length;
    if (end > this.#row.length) this.#row = Buffer.concat([this.#row], 2 * end);
    this.#length += this.#row.write(joined, this.#length);
    if (end >= ROW_SIZE * 2 ** Math.floor(this.#part / ROWS_PER_SIZE)) this.flush();
  }

  flush(): void {
    if (this.#length === 0) return;
    this.#add(this.#part, this.#row.toString('utf8', 0, this.#length), this.#size);
    this.#length = 0;
    this.#size = 0;
    this.#part += 1;
    this.#prefix = this.#prefixOf(this.#part);
  }
}

/** The words of a small entry, each behind the prefix. */
function wordsIn({ head, text }: EntryRow, prefix: string): string {
  let words = '';
  for (const value of stringValuesIn(text.subarray(head))) {
    const found = tokenize(value);
    if (found.length > 0) words += `${prefix}${found.join(` ${prefix}`)} `;
    words += `${VALUE_END} `;
  }
  return words;
}
