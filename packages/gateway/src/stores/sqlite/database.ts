/** What the databases of a data folder have in common. */
import { existsSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

import { isStorageFault, StorageFault } from '../../storage-fault.ts';

/** A database that holds nothing but what can be rebuilt from the log. */
export interface DerivedDatabase {
  readonly file: string;
  /** What is removed together with it. */
  readonly files: readonly string[];
  readonly cacheKiB: number;
  readonly format: number;
  readonly tables: string;
  /** The id of the log that it is derived from. */
  readonly logId: string;
  /** Throws a `StorageFault` where it must be rebuilt. */
  check(db: DatabaseSync): void;
  /** Whether the error means that the file must be rebuilt. Other errors are thrown. */
  isDamage(error: unknown): boolean;
  readonly onSpoiled: OnSpoiled;
}

/** Called where a file that is there cannot be used, before it is replaced by an empty one. */
export type OnSpoiled = (fault: Error) => void;

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

export const META_TABLE =
  'CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT';

/** Thrown for an entry whose bytes in the log cannot be those that were written. */
export class SpoiledEntry extends StorageFault {}

/** Thrown for a bucket of idempotency keys of which the check fails. */
export class SpoiledBucket extends StorageFault {
  readonly bucket: number;

  constructor(bucket: number) {
    super(`Bucket ${bucket} of the idempotency keys is not what was stored.`);
    this.bucket = bucket;
  }
}

/** Returns what was read; undefined where it turns out to be spoiled. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isSpoiled(error)) return undefined;
    throw error;
  }
}

/**
 * Whether a page of the database has lost its form (SQLITE_CORRUPT), or the file has (SQLITE_NOTADB),
 * or an entry has, or a bucket of keys.
 */
export function isSpoiled(error: unknown): error is Error {
  if (error instanceof SpoiledEntry || error instanceof SpoiledBucket) return true;
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  const code = Number(error.errcode) & 0xff;
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

export function openForReading(file: string, cacheKiB = 8192): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  db.exec(`PRAGMA cache_size = -${cacheKiB}`);
  return db;
}

/** Opens the database for its one writer; an empty one where there is none that can be used. */
export function openDerived(database: DerivedDatabase): DatabaseSync {
  if (!existsSync(database.file)) return createDerived(database);
  let db: DatabaseSync | undefined;
  try {
    db = connect(database);
    const fault = formatFault(db, database);
    if (fault !== undefined) throw new StorageFault(`it ${fault}`);
    database.check(db);
    return db;
  } catch (error) {
    if (db?.isOpen === true) db.close();
    if (!(error instanceof StorageFault) && !(isStorageFault(error) && database.isDamage(error)))
      throw error;
    const message = `${basename(database.file)} cannot be used: ${error.message}`;
    database.onSpoiled(new StorageFault(message, { cause: error }));
  }
  return createDerived(database);
}

/** Why a derived database cannot be used by this version for this log, if it is so. */
export function formatFault(
  db: DatabaseSync,
  { format, logId }: Pick<DerivedDatabase, 'format' | 'logId'>,
): string | undefined {
  const version = readPragma(db, 'user_version');
  if (version !== format) return `has format ${version} in place of ${format}`;
  return readMeta(db, 'log') === logId ? undefined : 'is of another log';
}

function createDerived(database: DerivedDatabase): DatabaseSync {
  for (const file of database.files) rmSync(file, { recursive: true, force: true });
  removeDatabase(database.file);
  const db = connect(database);
  db.exec(`BEGIN IMMEDIATE; ${META_TABLE}; ${database.tables}`);
  db.exec(`PRAGMA user_version = ${database.format}`);
  db.prepare("INSERT INTO meta VALUES ('log', ?)").run(database.logId);
  db.exec('COMMIT');
  return db;
}

/** Of the file beside a database that has the checksums of its pages. */
export const SUMS_SUFFIX = '-sums';

export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', SUMS_SUFFIX]) rmSync(file + suffix, { force: true });
}

/** Not flushed on every commit: what a power cut takes is derived from the log again. */
function connect({ file, cacheKiB }: DerivedDatabase): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    db.exec(`PRAGMA cache_size = -${cacheKiB}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function readMeta(db: DatabaseSync, name: string): string | number | undefined {
  const value = db.prepare('SELECT value FROM meta WHERE name = ?').get(name)?.['value'];
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

/** A seq in the table `meta`, 0 where there is none. */
export function readMetaSeq(db: DatabaseSync, name: string): number {
  const seq = readMeta(db, name);
  return typeof seq === 'number' ? seq : 0;
}

/** Stores how far a derived database has come: a seq, and the link of that entry. */
export class PositionWriter {
  readonly #write: StatementSync;
  readonly #log: unknown;
  readonly #linkAt: (seq: number) => string | undefined;

  /** `name`: of the seq in the table `meta`. `linkAt`: of an entry, in hex. */
  constructor(derived: DatabaseSync, name: string, linkAt: (seq: number) => string | undefined) {
    this.#write = derived.prepare(
      `INSERT OR REPLACE INTO meta VALUES ('${name}', ?), ('link', ?), ('positionSum', ?)`,
    );
    this.#log = readMeta(derived, 'log');
    // `run` returns the last row id, which may be beyond the numbers of JavaScript.
    this.#write.setReadBigInts(true);
    this.#linkAt = linkAt;
  }

  write(seq: number): void {
    const link = this.#linkOf(seq);
    this.#write.run(seq, link, positionSum(this.#log, seq, link));
  }

  /** Null where the entry cannot be read. */
  #linkOf(seq: number): string | null {
    try {
      return this.#linkAt(seq) ?? null;
    } catch (error) {
      if (isSpoiled(error)) return null;
      throw error;
    }
  }
}

/** Without it, a changed bit in a derived file would say that the log has lost entries. */
export function positionSum(log: unknown, seq: number, link: unknown): number {
  return crc32(`${String(log)} ${seq} ${String(link)}`);
}

export function readPragma(db: DatabaseSync, name: string): number {
  const value = db.prepare(`PRAGMA ${name}`).get()?.[name];
  return typeof value === 'number' ? value : 0;
}
