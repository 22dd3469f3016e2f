/**
 * Finds entries by their idempotency keys: `keys.sqlite`, which is derived from the log. The answer that
 * no entry has a key decides that a draft is stored, so each row has a checksum: a lookup reads the rows
 * beside the place where the key would be, and one that has changed is beside its own place.
 *
 * It is committed after the log, many entries together, and not flushed: what is missing at a start is added
 * from the entries.
 * A file that has changed is deleted and made again from the log, in short steps. Until it is complete,
 * which entry has a key is unknown.
 */
import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

import type { Seq } from '../../../log/log.ts';
import { assertStorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import {
  isSpoiled,
  META_TABLE,
  positionSum,
  PositionWriter,
  readable,
  readMeta,
  readMetaSeq,
  readPragma,
  removeDatabase,
  SpoiledKeys,
} from '../database.ts';
import type { RowReader, SeqSpan } from '../log/row-reader.ts';
import { KEY_COLUMN_SIZE } from '../log/key-column.ts';

const KEYS_FORMAT = 1;

const TABLES = `${META_TABLE};
  CREATE TABLE keys (prefix INTEGER NOT NULL, seq INTEGER NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY (prefix, seq)) WITHOUT ROWID, STRICT;
  PRAGMA user_version = ${KEYS_FORMAT}`;
const ROW = 'SELECT prefix, seq, sum FROM keys WHERE';
const FIND = `${ROW} prefix = ?1
  UNION ALL SELECT * FROM (${ROW} prefix > ?1 ORDER BY prefix, seq LIMIT 1)
  UNION ALL SELECT * FROM (${ROW} prefix < ?1 ORDER BY prefix DESC, seq DESC LIMIT 1)`;
const PREFIX_SIZE = 6;

/** Entries that are read in one step. */
const STEP_ENTRIES = 1000;
/** Entries that a start may have to read. A transaction for each of their commits would cost as much as that. */
const MAX_UNSTORED = 1000;

/** The first 47 bits: as many as SQLite stores in six bytes. Other keys may begin with the same. */
export function prefixOf(key: Uint8Array): number {
  return Math.floor(Buffer.from(key.buffer, key.byteOffset).readUIntBE(0, PREFIX_SIZE) / 2);
}

const SUMMED = Buffer.alloc(2 * PREFIX_SIZE);

export function keySum(prefix: number, seq: Seq): number {
  SUMMED.writeUIntBE(prefix, 0, PREFIX_SIZE);
  SUMMED.writeUIntBE(seq, PREFIX_SIZE, PREFIX_SIZE);
  return crc32(SUMMED) | 0;
}

/** The entries that may have a key. Throws `SpoiledKeys` where that is unknown. */
function keyFinder(db: DatabaseSync): (key: Uint8Array) => readonly Seq[] {
  const find = db.prepare(FIND);
  find.setReadBigInts(true);
  find.setReturnArrays(true);
  return (key) => {
    const wanted = prefixOf(key);
    const seqs: Seq[] = [];
    for (const row of find.all(wanted)) {
      const [prefix, seq, sum] = (row as unknown as readonly bigint[]).map(Number);
      if (!isKeyRow(prefix, seq, sum))
        throw new SpoiledKeys('A row of keys.sqlite is not what was stored.');
      if (prefix === wanted && seq !== undefined) seqs.push(seq);
    }
    return seqs;
  };
}

/** Whether the row is what was stored. */
export function isKeyRow(prefix = -1, seq = -1, sum = 0): boolean {
  const isInRange = prefix >= 0 && prefix < 2 ** 47 && seq > 0 && seq < 2 ** 48;
  return isInRange && keySum(prefix, seq) === sum;
}

export interface KeyedEntry {
  readonly seq: Seq;
  /** SHA-256 of its idempotency key. */
  readonly key: Uint8Array;
}

/** The entries that have a key. Leaves out those that cannot be read. */
export function keyedEntries(log: DatabaseSync): (span: SeqSpan) => readonly KeyedEntry[] {
  const select = log.prepare(
    `SELECT seq, substr(key, -32) AS key FROM entries
       WHERE seq BETWEEN ? AND ? AND octet_length(key) = ${KEY_COLUMN_SIZE}`,
  );
  const read = (from: Seq, to: Seq): KeyedEntry[] | undefined =>
    readable(() => select.all(from, to) as unknown as KeyedEntry[]);
  return ({ from, to }) => {
    const found = read(from, to);
    if (found !== undefined) return found;
    const seqs = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    return seqs.flatMap((seq) => read(seq, seq) ?? []);
  };
}

interface OpenKeys {
  readonly db: DatabaseSync;
  readonly inode: number | undefined;
  readonly find: (key: Uint8Array) => readonly Seq[];
  readonly put: StatementSync;
  /** Begins what `discard` takes back, and ends it. */
  readonly mark: StatementSync;
  readonly release: StatementSync;
  readonly position: PositionWriter;
}

export class Keys {
  readonly #paths: DataPaths;
  readonly #reader: RowReader;
  readonly #keyed: (span: SeqSpan) => readonly KeyedEntry[];
  readonly #logId: string;
  #open: OpenKeys | undefined;
  /** The keys of all entries up to this one are there. */
  #until: Seq = 0;
  #stored: Seq = 0;
  #isComplete = false;
  /** Whether keys were added in the transaction of the log that is not committed. */
  #isMarked = false;
  #fault: Error | undefined;

  constructor(paths: DataPaths, log: DatabaseSync, reader: RowReader) {
    this.#paths = paths;
    this.#reader = reader;
    this.#keyed = keyedEntries(log);
    this.#logId = String(readMeta(log, 'name'));
  }

  /** Whether it is known which entries have keys. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Why it is not. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** Why it is not, or was not since the last call. */
  takeFault(): Error | undefined {
    const fault = this.#fault;
    if (this.#isComplete) this.#fault = undefined;
    return fault;
  }

  /** The entries that may have the key, in ascending order; undefined where that is unknown now. */
  find(key: Uint8Array): readonly Seq[] | undefined {
    return this.#attempt((keys) => keys.find(key));
  }

  /** To be called after `find`, for a key that it did not find. */
  put(key: Uint8Array, seq: Seq): void {
    this.#attempt((keys) => {
      if (!keys.db.isTransaction) keys.db.exec('BEGIN');
      if (!this.#isMarked) keys.mark.run();
      this.#isMarked = true;
      const prefix = prefixOf(key);
      keys.put.run(prefix, seq, keySum(prefix, seq));
    });
  }

  /** To be called when the entries up to this one are committed. */
  commit(seq: Seq): void {
    if (!this.#isComplete) return;
    this.#attempt(({ release }) => {
      if (this.#isMarked) release.run();
      this.#isMarked = false;
    });
    this.#until = seq;
    if (seq - this.#stored >= MAX_UNSTORED) this.store();
  }

  /** Stores what was added, so that the next start has less to add. */
  store(): void {
    if (this.#until > this.#stored) this.#attempt((keys) => this.#store(keys));
  }

  /** To be called when entries could not be committed. */
  discard(): void {
    this.#attempt(({ db }) => {
      if (this.#isMarked) db.exec('ROLLBACK TO entries; RELEASE entries');
      this.#isMarked = false;
    });
  }

  /**
   * Adds the keys of the next entries, up to `head`, between commits of the log. Returns whether any are
   * left.
   */
  step(head: Seq): 'complete' | 'more' | 'failed' {
    try {
      this.#open ??= this.#openFile();
      const keys = this.#open;
      const to = Math.min(head, this.#until + STEP_ENTRIES);
      if (!keys.db.isTransaction) keys.db.exec('BEGIN IMMEDIATE');
      for (const { seq, key } of this.#keyed({ from: this.#until + 1, to })) {
        const prefix = prefixOf(key);
        keys.put.run(prefix, seq, keySum(prefix, seq));
      }
      this.#until = to;
      this.#store(keys);
      this.#isComplete = to === head;
      return this.#isComplete ? 'complete' : 'more';
    } catch (error) {
      this.#fail(error);
      return 'failed';
    }
  }

  /** Notices, between commits, that the file was moved or removed: it is made again then. */
  checkFile(): void {
    this.#attempt(({ inode }) => {
      if (inodeOf(this.#paths.keys) !== inode)
        throw new SpoiledKeys('keys.sqlite was moved or removed.');
    });
  }

  /** Has the file made again. */
  spoiled(fault: Error): void {
    this.#fail(fault);
  }

  close(): void {
    this.store();
    this.#close();
  }

  #close(): void {
    this.#isComplete = this.#isMarked = false;
    if (this.#open?.db.isOpen === true) this.#open.db.close();
    this.#open = undefined;
  }

  #store(keys: OpenKeys): void {
    if (!keys.db.isTransaction) keys.db.exec('BEGIN IMMEDIATE');
    keys.position.write(this.#until);
    keys.db.exec('COMMIT');
    this.#stored = this.#until;
  }

  #attempt<T>(work: (keys: OpenKeys) => T): T | undefined {
    if (!this.#isComplete || this.#open === undefined) return undefined;
    try {
      return work(this.#open);
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** The next step opens the file again: a new one, if it has changed. */
  #fail(error: unknown): void {
    assertStorageFault(error);
    this.#fault = error;
    try {
      this.#close();
      if (isSpoiled(error)) removeDatabase(this.#paths.keys);
    } catch (closeError) {
      // The next step finds it as it is.
      assertStorageFault(closeError);
    }
  }

  #openFile(): OpenKeys {
    const { keys: file } = this.#paths;
    const db = new DatabaseSync(file, { timeout: 5000 });
    try {
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192');
      if (readPragma(db, 'user_version') === 0) {
        db.exec(`BEGIN IMMEDIATE; ${TABLES}`);
        db.prepare("INSERT INTO meta VALUES ('log', ?)").run(this.#logId);
        db.exec('COMMIT');
      }
      this.#until = this.#stored = readMetaSeq(db, 'until');
      if (!this.#isOfLog(db)) throw new SpoiledKeys('keys.sqlite is of another log.');
      const put = db.prepare('INSERT OR IGNORE INTO keys VALUES (?, ?, ?)');
      const [mark, release] = [db.prepare('SAVEPOINT entries'), db.prepare('RELEASE entries')];
      const position = new PositionWriter(db, 'until', (seq) => this.#reader.linkAt(seq));
      return { db, inode: inodeOf(file), find: keyFinder(db), put, mark, release, position };
    } catch (error) {
      db.close();
      throw error;
    }
  }

  #isOfLog(db: DatabaseSync): boolean {
    if (readPragma(db, 'user_version') !== KEYS_FORMAT) return false;
    const [log, link, sum] = ['log', 'link', 'positionSum'].map((name) => readMeta(db, name));
    const until = this.#until;
    if (log !== this.#logId || until === 0) return log === this.#logId;
    const found = readable(() => this.#reader.linkAt(until) ?? '');
    return sum === positionSum(log, until, link ?? null) && (found === undefined || found === link);
  }
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}
