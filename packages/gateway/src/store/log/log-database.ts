/**
 * The format of `log.sqlite`: every entry in order, flushed before it is acknowledged, and an index of their
 * idempotency keys.
 *
 * Invariant: A log from before the first release is refused, and the error says how to bring it
 *   over.
 * Test: `packages/gateway/src/store/log/verify.test.ts` “throws where there is no log
 *   that it can read”
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import { StorageFault } from '../../storage-fault.ts';
import { openForReading, readMeta, readPragma } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { isMissing } from '../checked-file.ts';
import { ENTRIES_TABLE, KEYS_INDEX } from './entry-row.ts';
import { convertFormat1, removeFormat1 } from './format-1.ts';
import { WITHHELD_TABLE } from '../withholding/withheld-table.ts';

/** "OPGR": another one than that of logs from before the first release. */
const APPLICATION_ID = 0x4f504752;
const EARLY_APPLICATION_ID = 0x4f50474c;

export const LOG_FORMAT = 2;

const TABLES = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
  ${ENTRIES_TABLE};
  ${KEYS_INDEX};
  -- The files of large bodies.
  CREATE TABLE large (seq INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL,
    facets TEXT NOT NULL) STRICT;
  CREATE INDEX large_name ON large (name);
  ${WITHHELD_TABLE};
  INSERT INTO meta VALUES ('name', lower(hex(randomblob(8))));
  `;

/** Opens the log for its one writer; makes one if there is none, and converts one of format 1. Throws if the file is anything else. */
export function openLogForWriting(paths: DataPaths): DatabaseSync {
  const db = new DatabaseSync(paths.log, { timeout: 5000 });
  try {
    // FAST overwrites what a page split leaves behind: that text may be withheld later.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST');
    if (readPragma(db, 'user_version') === 0) createLog(db);
    assertFormat(db, paths);
    if (readPragma(db, 'user_version') === 1) {
      flushWal(db);
      convertFormat1(db, paths);
    }
    removeFormat1(paths);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function createLog(db: DatabaseSync): void {
  db.exec(`BEGIN IMMEDIATE; ${TABLES}; PRAGMA application_id = ${APPLICATION_ID};
    PRAGMA user_version = ${LOG_FORMAT}; COMMIT`);
}

/** Gives the log a new random name, so that cursors of the old one no longer fit. */
export function renameLog(db: DatabaseSync): void {
  db.exec("UPDATE meta SET value = lower(hex(randomblob(8))) WHERE name = 'name'");
}

/** The same for a log that has lost entries: others will have their seqs. */
export function giveNewName(paths: DataPaths): void {
  using db = openLogForWriting(paths);
  flushWal(db);
  renameLog(db);
}

/** Names a log without entries, so that it can become a copy. Throws if it has entries and another name. */
export function adoptName(paths: DataPaths, name: string): void {
  using db = openLogForWriting(paths);
  const own = String(readMeta(db, 'name'));
  if (own === name) return;
  if (db.prepare('SELECT 1 FROM entries LIMIT 1').get() !== undefined)
    throw new Error(`"${paths.folder}" has another log: its name is ${own}, not ${name}.`);
  flushWal(db);
  db.prepare("UPDATE meta SET value = ? WHERE name = 'name'").run(name);
}

/**
 * Must be called once before the first write. The WAL of an earlier process may hold frames of a
 * commit whose flush failed. Once everything is in the main file, and flushed, it does not matter
 * which pages of the WAL reached the disk. Throws where that cannot be done now.
 */
export function flushWal(db: DatabaseSync): void {
  const busy = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'];
  if (busy !== 0)
    throw new StorageFault('The WAL cannot be flushed while another connection reads it.');
}

/** Rolls back an interrupted first start, whose log has a journal: readers cannot open it. */
export function rollBackJournal({ log }: DataPaths): void {
  if (!existsSync(log) || !existsSync(`${log}-journal`)) return;
  using db = new DatabaseSync(log);
  db.exec('SELECT count(*) FROM sqlite_schema');
}

/** Opens the log without changing it. Throws if there is none, or one of another format. */
export function openLogForReading(paths: DataPaths): DatabaseSync {
  const db = openLogIfExists(paths);
  if (db === undefined) throw new Error(`There is no log in "${paths.folder}".`);
  return db;
}

/** Undefined if there is no log, or an empty file, which an interrupted first start leaves. */
export function openLogIfExists(paths: DataPaths): DatabaseSync | undefined {
  if (!isReadableFile(paths.log)) return undefined;
  const db = openForReading(paths.log);
  try {
    const tables = db.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.['tables'];
    if (tables === 0) {
      db.close();
      return undefined;
    }
    assertFormat(db, paths);
    return db;
  } catch (error) {
    if (db.isOpen) db.close();
    throw error;
  }
}

/** False if there is no such file. Throws if this user may not read it, which SQLite would not say. */
function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Throws where this program cannot use a file that is not empty. */
function assertFormat(db: DatabaseSync, { folder, log }: DataPaths): void {
  const [id, version] = [readPragma(db, 'application_id'), readPragma(db, 'user_version')];
  if (id === EARLY_APPLICATION_ID)
    throw new Error(
      `"${log}" is of a version before the first release: export it with that version ("presence export --data ${folder} FILE"), and import that into a new folder with this one ("presence import FILE --data NEW").`,
    );
  if (id !== APPLICATION_ID) throw new Error(`"${log}" is not the log of a presence gateway.`);
  if (version > LOG_FORMAT)
    throw new Error(
      `"${log}" has format ${version}; this version of the gateway knows formats up to ${LOG_FORMAT}. Use the newer version that wrote it.`,
    );
}
