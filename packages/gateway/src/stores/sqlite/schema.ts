/**
 * The two databases of a data folder and the formats they have.
 *
 * `log.sqlite` is the truth: every entry, in order, flushed before it is acknowledged.
 * `index.sqlite` with the folder `runs`, and `search.sqlite`, are readers of it: they may be lost at
 * any time and are made again from the log.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Where everything lies in a data folder. */
export interface DataPaths {
  readonly folder: string;
  readonly lock: string;
  readonly log: string;
  readonly index: string;
  /** The words of all that was said. */
  readonly search: string;
  /** Files of joined entries, one for each kind. */
  readonly runs: string;
  /** Files of entries too large for a row. */
  readonly large: string;
  /** The same, while they come in. */
  readonly incoming: string;
}

export function dataPathsIn(folder: string): DataPaths {
  return {
    folder,
    lock: join(folder, 'lock.sqlite'),
    log: join(folder, 'log.sqlite'),
    index: join(folder, 'index.sqlite'),
    search: join(folder, 'search.sqlite'),
    runs: join(folder, 'runs'),
    large: join(folder, 'large'),
    incoming: join(folder, 'large', 'incoming'),
  };
}

/** "OPGL" */
const APPLICATION = 0x4f50474c;

/**
 * Each step brings the log's format from the version that is its place in the list to the next
 * one. Steps are never changed once released, only added.
 */
const LOG_STEPS: readonly string[] = [
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
];

export const INDEX_FORMAT = 1;

const INDEX_TABLES = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
  -- The seqs of a facet within one part of the log: 16-bit little-endian offsets, ascending.
  CREATE TABLE postings (
    part INTEGER NOT NULL,
    facet BLOB NOT NULL,
    first INTEGER NOT NULL,
    seqs BLOB NOT NULL,
    PRIMARY KEY (part, facet, first)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE runs (
    kind TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    position INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (kind, last)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE tallies (
    room TEXT NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (room, kind)
  ) WITHOUT ROWID, STRICT;
`;

/**
 * Opens the log for its one writer, bringing an older format forward.
 * Throws when the file is no log, or of a newer format than this program knows.
 */
export function openLogForWriting(places: DataPaths): DatabaseSync {
  const db = new DatabaseSync(places.log, { timeout: 5000 });
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const version = pragma(db, 'user_version');
  const refusal = version === 0 ? undefined : refusalOf(db, places);
  if (refusal !== undefined) {
    db.close();
    throw new Error(refusal);
  }
  for (let step = version; step < LOG_STEPS.length; step += 1) {
    db.exec(
      `BEGIN IMMEDIATE; ${LOG_STEPS[step]}; PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${step + 1}; COMMIT`,
    );
  }
  return db;
}

/**
 * To be called once before the log is written to. Frames of a commit whose flush failed may lie in
 * the WAL of the process before: once everything is in the main file, and flushed, it doesn't
 * matter which of the WAL's pages reached the disk. Throws where that cannot be done now.
 */
export function flushWal(db: DatabaseSync): void {
  const busy = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'];
  if (busy !== 0) throw new Error('Someone reads what is to be flushed.');
}

/** Why a file that is not empty is no log for this program. */
function refusalOf(db: DatabaseSync, { log }: DataPaths): string | undefined {
  if (pragma(db, 'application_id') !== APPLICATION)
    return `"${log}" is not the log of a presence gateway.`;
  const version = pragma(db, 'user_version');
  if (version <= LOG_STEPS.length) return undefined;
  return `"${log}" has format ${version}; this version of the gateway knows formats up to ${LOG_STEPS.length}. Use the newer version that wrote it.`;
}

/**
 * Opens the log without changing it, whether a gateway runs on it or not. Throws when there is
 * none, or one of another format than a gateway of this version would have brought it to.
 */
export function openLogForReading(places: DataPaths): DatabaseSync {
  if (!existsSync(places.log)) throw new Error(`There is no log in "${places.folder}".`);
  const db = openForReading(places.log);
  try {
    const refusal = refusalOf(db, places);
    if (refusal !== undefined) throw new Error(refusal);
    const version = pragma(db, 'user_version');
    if (version === LOG_STEPS.length) return db;
    throw new Error(
      `"${places.log}" has the older format ${version}. Start a gateway with it once, which brings it forward.`,
    );
  } catch (error) {
    db.close();
    throw error;
  }
}

export function openForReading(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  db.exec('PRAGMA cache_size = -8192');
  return db;
}

/**
 * Opens the index for its one writer, empty if it has another format. It is not flushed on every
 * commit: what a power cut takes is indexed again.
 */
export function openIndexForWriting(places: DataPaths): DatabaseSync {
  const db = new DatabaseSync(places.index, { timeout: 5000 });
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4096');
  if (pragma(db, 'user_version') === 0) {
    db.exec(`BEGIN IMMEDIATE; ${INDEX_TABLES}; PRAGMA user_version = ${INDEX_FORMAT}; COMMIT`);
  }
  return db;
}

/** The format of an index file: 0 while it is empty. */
export function indexFormat(db: DatabaseSync): number {
  return pragma(db, 'user_version');
}

/** A value of the table `meta`, which both databases have. */
export function metaOf(db: DatabaseSync, name: string): string | number | undefined {
  const value = db.prepare('SELECT value FROM meta WHERE name = ?').get(name)?.['value'];
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

function pragma(db: DatabaseSync, name: string): number {
  const value = db.prepare(`PRAGMA ${name}`).get()?.[name];
  return typeof value === 'number' ? value : 0;
}
