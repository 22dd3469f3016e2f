/**
 * The format of `log.sqlite`: every entry in order, flushed before it is acknowledged. All other
 * databases are derived from it.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import { StorageFault } from '../../../storage-fault.ts';
import { openForReading, readPragma } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { KEY_BUCKETS_TABLE, KeyBuckets } from './key-buckets.ts';
import { WITHHELD_TABLE } from './withheld-table.ts';

/** "OPGL" */
const APPLICATION_ID = 0x4f50474c;

/** The format of this program. `migration.ts` brings older ones forward. */
export const LOG_FORMAT = 7;
/** Older ones had a row for each entry. */
export const FIRST_FORMAT_OF_BLOCKS = 3;

const TABLES = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
  -- Consecutive entries, from the seq \`first\` on: see blocks.ts.
  CREATE TABLE blocks (first INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
  -- Finds an entry by the name of the file of its body.
  CREATE TABLE large (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  -- Finds entries by their idempotency keys: see key-buckets.ts.
  ${KEY_BUCKETS_TABLE};
  ${WITHHELD_TABLE};
  INSERT INTO meta VALUES ('name', lower(hex(randomblob(8))));
  `;

/**
 * Opens the log for its one writer, and makes one where there is none. Throws when the file is not a
 * log of this format.
 */
export function openLogForWriting(paths: DataPaths): DatabaseSync {
  const db = openAnyLogForWriting(paths);
  const version = readPragma(db, 'user_version');
  if (version === LOG_FORMAT) return db;
  db.close();
  throw olderFormat(paths, version);
}

/** The same for a log of an older format too. */
export function openAnyLogForWriting(paths: DataPaths): DatabaseSync {
  const db = new DatabaseSync(paths.log, { timeout: 5000 });
  // When a page is split, what was moved elsewhere is not left in it: it may be withheld later.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST');
  if (readPragma(db, 'user_version') === 0) createLog(db);
  const refusal = refusalOf(db, paths);
  if (refusal === undefined) return db;
  db.close();
  throw new Error(refusal);
}

/** Makes the tables of a log in an empty database. */
export function createLog(db: DatabaseSync): void {
  db.exec(`BEGIN IMMEDIATE; ${TABLES}; PRAGMA application_id = ${APPLICATION_ID}`);
  new KeyBuckets(db).create();
  db.exec(`PRAGMA user_version = ${LOG_FORMAT}; COMMIT`);
}

/** Opens a log of this format to change it beside a gateway that may be running. */
export function openLogForRepair(paths: DataPaths): DatabaseSync {
  const db = new DatabaseSync(paths.log, { timeout: 5000 });
  // What an earlier process has left in the WAL is flushed before anything is written after it. What
  // is replaced may be withheld later: no free space of the file has it then.
  db.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA wal_checkpoint(PASSIVE)');
  return db;
}

/** Gives the log a new random name: its cursors are not those of the log that it was. */
export function renameLog(db: DatabaseSync): void {
  db.exec("UPDATE meta SET value = lower(hex(randomblob(8))) WHERE name = 'name'");
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

/**
 * Rolls back what a first start that was interrupted has begun: a log has a journal only before it
 * has its first entry. Connections that only read cannot open such a log.
 */
export function rollBackJournal({ log }: DataPaths): void {
  if (!existsSync(log) || !existsSync(`${log}-journal`)) return;
  const db = new DatabaseSync(log);
  try {
    db.exec('SELECT count(*) FROM sqlite_schema');
  } finally {
    db.close();
  }
}

/**
 * Opens the log without changing it, whether a gateway runs on it or not. Throws when there is
 * none, or one of another format than this program writes.
 */
export function openLogForReading(paths: DataPaths): DatabaseSync {
  const db = openAnyLogForReading(paths);
  if (db === undefined) throw new Error(`There is no log in "${paths.folder}".`);
  const version = readPragma(db, 'user_version');
  if (version === LOG_FORMAT) return db;
  db.close();
  throw olderFormat(paths, version);
}

function olderFormat({ log }: DataPaths, version: number): Error {
  return new Error(
    `"${log}" has the older format ${version}. Start a gateway with it once, which brings it forward.`,
  );
}

/**
 * The same for a log of an older format too. Undefined if there is none, or an empty file, which a
 * first start leaves that was interrupted.
 */
export function openAnyLogForReading(paths: DataPaths): DatabaseSync | undefined {
  if (!existsSync(paths.log)) return undefined;
  const db = openForReading(paths.log);
  try {
    const isEmpty = db.prepare('SELECT count(*) AS tables FROM sqlite_schema').get();
    const refusal = isEmpty?.['tables'] === 0 ? undefined : refusalOf(db, paths);
    if (refusal !== undefined) throw new Error(refusal);
    if (isEmpty?.['tables'] !== 0) return db;
    db.close();
    return undefined;
  } catch (error) {
    if (db.isOpen) db.close();
    throw error;
  }
}

/** Why this program cannot use a file that is not empty. */
function refusalOf(db: DatabaseSync, { log }: DataPaths): string | undefined {
  if (readPragma(db, 'application_id') !== APPLICATION_ID)
    return `"${log}" is not the log of a presence gateway.`;
  const version = readPragma(db, 'user_version');
  if (version <= LOG_FORMAT) return undefined;
  return `"${log}" has format ${version}; this version of the gateway knows formats up to ${LOG_FORMAT}. Use the newer version that wrote it.`;
}
