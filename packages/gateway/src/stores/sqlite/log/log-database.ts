/**
 * The format of `log.sqlite`: every entry in order, flushed before it is acknowledged. All other
 * databases are derived from it.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import type { Kind } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import { StorageFault } from '../../../storage-fault.ts';
import { openForReading, readPragma } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { migratedKeyColumn } from './key-column.ts';
import { sha256 } from './sha256.ts';

/** "OPGL" */
const APPLICATION_ID = 0x4f50474c;

/**
 * Each step migrates the format from the version that is its index to the next one. Released steps
 * are never changed; new ones are added.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
  -- text: the whole entry; for a large one its head and a comma, the rest being in the file.
  -- head: bytes of the gateway's own members at its beginning. size: bytes of the whole entry.
  -- link: SHA-256 chaining this entry to the one before. marked: whether files have more facets.
  CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    kind TEXT NOT NULL,
    room TEXT NOT NULL,
    head INTEGER NOT NULL,
    size INTEGER NOT NULL,
    large TEXT,
    marked INTEGER NOT NULL,
    link BLOB NOT NULL,
    facets BLOB NOT NULL,
    text BLOB NOT NULL
  ) STRICT;
  CREATE INDEX entries_large ON entries (large) WHERE large IS NOT NULL;
  CREATE TABLE keys (key BLOB PRIMARY KEY, content BLOB NOT NULL, seq INTEGER NOT NULL)
    WITHOUT ROWID, STRICT;
  INSERT INTO meta VALUES ('name', lower(hex(randomblob(8))));
  `,
  `
  -- key: see key-column.ts. The table keys only finds it, and can be made from the entries.
  ALTER TABLE entries ADD COLUMN key BLOB;
  UPDATE entries SET key = migrated_key_column(keys.key) FROM keys WHERE keys.seq = entries.seq;
  ALTER TABLE keys DROP COLUMN content;
  `,
];
const FORMAT = MIGRATIONS.length;

/**
 * Opens the log for its one writer and migrates an older format. Throws when the file is not a log,
 * or of a newer format than this program knows.
 */
export function openLogForWriting(paths: DataPaths): DatabaseSync {
  const db = new DatabaseSync(paths.log, { timeout: 5000 });
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const version = readPragma(db, 'user_version');
  const refusal = version === 0 ? undefined : refusalOf(db, paths);
  if (refusal !== undefined) {
    db.close();
    throw new Error(refusal);
  }
  if (version < FORMAT)
    db.function('migrated_key_column', (key) => migratedKeyColumn(key as Uint8Array));
  for (let step = version; step < FORMAT; step += 1) {
    db.exec(
      `BEGIN IMMEDIATE; ${MIGRATIONS[step]}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${step + 1}; COMMIT`,
    );
  }
  return db;
}

/** Opens a log of this format to change it beside a gateway that may be running. */
export function openLogForRepair(paths: DataPaths): DatabaseSync {
  const db = new DatabaseSync(paths.log, { timeout: 5000 });
  // What an earlier process has left in the WAL is flushed before anything is written after it.
  db.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(PASSIVE)');
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
  if (version === FORMAT) return db;
  db.close();
  throw new Error(
    `"${paths.log}" has the older format ${version}. Start a gateway with it once, which brings it forward.`,
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

/** A row of the table `entries`. */
export interface EntryRow {
  readonly seq: Seq;
  readonly time: number;
  readonly kind: Kind;
  readonly room: string;
  readonly head: number;
  readonly size: number;
  readonly large: string | null;
  readonly link: Uint8Array;
  readonly key: Uint8Array | null;
  readonly text: Uint8Array;
}

/** What an entry is verified by (see `ChainVerifier`). */
export const ENTRY_COLUMNS = 'seq, time, kind, room, head, size, large, link, key, text';

/** The link before the first entry. */
export const FIRST_LINK: Uint8Array = new Uint8Array(32);

/**
 * The link of an entry is SHA-256 over the link of the entry before, the gateway's members (`head`),
 * the SHA-256 of the body, and, if the entry has an idempotency key, 32 bytes made from it (see
 * `key-column.ts`). Whoever knows one link can detect a change of any byte before.
 */
export function linkOf(
  previous: Uint8Array,
  head: Uint8Array,
  bodyDigest: Uint8Array,
  linkedKey?: Uint8Array,
): Uint8Array {
  const parts = [previous, head, bodyDigest];
  if (linkedKey !== undefined) parts.push(linkedKey);
  return sha256(Buffer.concat(parts));
}

/** Why this program cannot use a file that is not empty. */
function refusalOf(db: DatabaseSync, { log }: DataPaths): string | undefined {
  if (readPragma(db, 'application_id') !== APPLICATION_ID)
    return `"${log}" is not the log of a presence gateway.`;
  const version = readPragma(db, 'user_version');
  if (version <= FORMAT) return undefined;
  return `"${log}" has format ${version}; this version of the gateway knows formats up to ${FORMAT}. Use the newer version that wrote it.`;
}
