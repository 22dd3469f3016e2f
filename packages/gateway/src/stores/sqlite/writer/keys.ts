/**
 * Finds entries by their idempotency keys: `keys.sqlite`, derived from the log. That no entry has a key decides
 * that a draft is stored, so each row has a checksum, and a lookup reads the rows beside the place of the key too.
 *
 * It is committed after the log, many entries together, and not flushed: a start adds what is missing. A file
 * that has changed is made again, in short steps; until then, which entry has a key is unknown.
 */
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

import type { Seq } from '../../../log/log.ts';
import { assertStorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled, readable, readPragma, removeDatabase, Spoiled } from '../database.ts';
import type { RowReader, SeqSpan } from '../log/row-reader.ts';
import { KEY_COLUMN_SIZE } from '../log/chain.ts';

const KEYS_FORMAT = 1;
/**
 * Greater than any prefix. Its row says up to which entry the keys are complete; its checksum includes that
 * entry's link.
 */
export const UNTIL: number = 2 ** 47;
const MAX_SEQ = 2 ** 48 - 1;

const TABLES = `
  CREATE TABLE keys (prefix INTEGER NOT NULL, seq INTEGER NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY (prefix, seq)) WITHOUT ROWID, STRICT;
  INSERT INTO keys VALUES (${UNTIL}, 0, 0);
  PRAGMA user_version = ${KEYS_FORMAT}`;
const ROW = 'SELECT prefix, seq, sum FROM keys WHERE';
const FIND = `${ROW} prefix = ?1
  UNION ALL SELECT * FROM (${ROW} prefix > ?1 ORDER BY prefix, seq LIMIT 1)
  UNION ALL SELECT * FROM (${ROW} prefix < ?1 ORDER BY prefix DESC, seq DESC LIMIT 1)`;
const PREFIX_SIZE = 6;

/** Entries that are read in one step. */
const STEP_ENTRIES = 1000;
/** Entries that a start may have to read again. Committing keys more often would cost as much. */
const MAX_UNSTORED = 1000;

/** The first 47 bits, which SQLite stores in six bytes. Different keys may share them. */
export function prefixOf(key: Uint8Array): number {
  return Math.floor(Buffer.from(key.buffer, key.byteOffset).readUIntBE(0, PREFIX_SIZE) / 2);
}

const SUMMED = Buffer.alloc(2 * PREFIX_SIZE);

/** `link`: of the entry, in the row that says how far the keys are there. */
export function keySum(prefix: number, seq: Seq, link = ''): number {
  SUMMED.writeUIntBE(prefix, 0, PREFIX_SIZE);
  SUMMED.writeUIntBE(seq, PREFIX_SIZE, PREFIX_SIZE);
  return crc32(SUMMED, crc32(link)) | 0;
}

/** Whether the row is what was stored. */
export function isKeyRow(prefix = -1, seq = -1, sum = 0): boolean {
  const isInRange = prefix >= 0 && prefix < UNTIL && seq > 0 && seq <= MAX_SEQ;
  return isInRange && keySum(prefix, seq) === sum;
}

/** The keys of all entries up to this one are there. Throws `Spoiled` where that has changed. */
export function keysUntil(keys: DatabaseSync, log: RowReader): Seq {
  const select = keys.prepare(`${ROW} prefix = ${UNTIL}`);
  select.setReadBigInts(true);
  const row = select.get();
  const [seq, sum] = [Number(row?.['seq'] ?? -1), Number(row?.['sum'])];
  if (seq >= 0 && seq <= MAX_SEQ) {
    const link = readable(() => log.linkAt(seq));
    if ((link === undefined && seq > 0) || sum === untilSum(seq, link)) return seq;
  }
  throw new Spoiled('keys.sqlite is not what was stored, or of another log.');
}

function untilSum(seq: Seq, link = ''): number {
  return seq === 0 ? 0 : keySum(UNTIL, seq, link);
}

/** The entries that may have a key. Throws `Spoiled` where that is unknown. */
function keyFinder(db: DatabaseSync): (key: Uint8Array) => readonly Seq[] {
  const find = db.prepare(FIND);
  find.setReadBigInts(true);
  find.setReturnArrays(true);
  return (key) => {
    const wanted = prefixOf(key);
    const seqs: Seq[] = [];
    for (const row of find.all(wanted)) {
      const [prefix, seq, sum] = (row as unknown as readonly bigint[]).map(Number);
      if (prefix === UNTIL) continue;
      if (!isKeyRow(prefix, seq, sum))
        throw new Spoiled('A row of keys.sqlite is not what was stored.');
      if (prefix === wanted && seq !== undefined) seqs.push(seq);
    }
    return seqs;
  };
}

interface KeyedEntry {
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
  /** Within a transaction, which it begins if there is none. */
  readonly put: (prefix: number, seq: Seq) => void;
  /** Ends the transaction. The keys of all entries up to this one are there. */
  readonly store: (until: Seq) => void;
}

export class Keys {
  readonly #paths: DataPaths;
  readonly #reader: RowReader;
  readonly #keyed: (span: SeqSpan) => readonly KeyedEntry[];
  #open: OpenKeys | undefined;
  /** The keys of all entries up to this one are there. */
  #until: Seq = 0;
  #stored: Seq = 0;
  #isComplete = false;
  #fault: Error | undefined;

  constructor(paths: DataPaths, log: DatabaseSync, reader: RowReader) {
    this.#paths = paths;
    this.#reader = reader;
    this.#keyed = keyedEntries(log);
  }

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

  /** The entries that may have the key, in ascending order. Undefined if that is unknown now. */
  find(key: Uint8Array): readonly Seq[] | undefined {
    return this.#attempt((keys) => keys.find(key));
  }

  /** To be called after `find`, for a key that it did not find. */
  put(key: Uint8Array, seq: Seq): void {
    this.#attempt((keys) => keys.put(prefixOf(key), seq));
  }

  /** To be called when the entries up to this one are committed. */
  commit(seq: Seq): void {
    if (this.#isComplete) this.#until = seq;
    if (this.#until - this.#stored >= MAX_UNSTORED) this.store();
  }

  /** Stores what was added, so that the next start has less to add. */
  store(): void {
    if (this.#until > this.#stored) this.#attempt((keys) => this.#store(keys));
  }

  /** To be called when entries could not be committed: those up to `head` are. */
  discard(head: Seq): void {
    this.#attempt((keys) => {
      if (!keys.db.isTransaction) return;
      keys.db.exec('ROLLBACK');
      this.#until = this.#stored;
      this.#add(keys, head);
    });
  }

  /** Adds the keys of the next entries, between commits of the log. Returns whether any are missing. */
  step(head: Seq): 'complete' | 'more' | 'failed' {
    try {
      this.#open ??= this.#openFile();
      this.#add(this.#open, Math.min(head, this.#until + STEP_ENTRIES));
      this.#store(this.#open);
      this.#isComplete = this.#until === head;
      return this.#isComplete ? 'complete' : 'more';
    } catch (error) {
      this.spoiled(error);
      return 'failed';
    }
  }

  /** Notices, between commits, that the file was moved or removed: it is made again then. */
  checkFile(): void {
    this.#attempt(({ inode }) => {
      if (inodeOf(this.#paths.keys) !== inode)
        throw new Spoiled('keys.sqlite was moved or removed.');
    });
  }

  /** The next step opens the file again: a new one, if it has changed. */
  spoiled(fault: unknown): void {
    assertStorageFault(fault);
    this.#fault = fault;
    try {
      this.#close();
      if (isSpoiled(fault)) removeDatabase(this.#paths.keys);
    } catch (closeError) {
      // The next step finds it as it is.
      assertStorageFault(closeError);
    }
  }

  close(): void {
    this.store();
    this.#close();
  }

  #close(): void {
    this.#isComplete = false;
    if (this.#open?.db.isOpen === true) this.#open.db.close();
    this.#open = undefined;
  }

  #add({ put }: OpenKeys, to: Seq): void {
    for (const { seq, key } of this.#keyed({ from: this.#until + 1, to })) put(prefixOf(key), seq);
    this.#until = to;
  }

  #store(keys: OpenKeys): void {
    keys.store(this.#until);
    this.#stored = this.#until;
  }

  #attempt<T>(work: (keys: OpenKeys) => T): T | undefined {
    if (!this.#isComplete || this.#open === undefined) return undefined;
    try {
      return work(this.#open);
    } catch (error) {
      this.spoiled(error);
      return undefined;
    }
  }

  #openFile(): OpenKeys {
    const { keys: file } = this.#paths;
    const db = new DatabaseSync(file, { timeout: 5000 });
    try {
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192');
      if (readPragma(db, 'user_version') === 0) db.exec(`BEGIN IMMEDIATE; ${TABLES}; COMMIT`);
      if (readPragma(db, 'user_version') !== KEYS_FORMAT)
        throw new Spoiled('keys.sqlite has another format.');
      this.#until = this.#stored = keysUntil(db, this.#reader);
      if (this.#until > this.#reader.lastSeq()) throw new Spoiled('keys.sqlite is of another log.');
      const insert = db.prepare('INSERT OR IGNORE INTO keys VALUES (?, ?, ?)');
      const update = db.prepare(`UPDATE keys SET seq = ?, sum = ? WHERE prefix = ${UNTIL}`);
      const begin = (): void => {
        if (!db.isTransaction) db.exec('BEGIN IMMEDIATE');
      };
      return {
        db,
        inode: inodeOf(file),
        find: keyFinder(db),
        put(prefix, seq) {
          begin();
          insert.run(prefix, seq, keySum(prefix, seq));
        },
        store: (until) => {
          begin();
          update.run(
            until,
            untilSum(
              until,
              readable(() => this.#reader.linkAt(until)),
            ),
          );
          db.exec('COMMIT');
        },
      };
    } catch (error) {
      db.close();
      throw error;
    }
  }
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}
