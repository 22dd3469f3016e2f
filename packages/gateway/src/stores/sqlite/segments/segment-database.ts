/** The index of a segment: words and facets, counts of rooms, and which entries are sent together. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { DataPaths } from '../data-paths.ts';
import { segmentFolder } from '../segment-record.ts';

/** Must change with the tables, with the tokenizer, and with which values are searched. */
export const SEGMENT_FORMAT = 8;

// `ascii` splits at spaces, and leaves the words of our own tokenizer as they are.
const TABLES = `
  CREATE VIRTUAL TABLE texts USING fts5(words, facets, content='', detail=full, tokenize="ascii");
  -- Merges few parts while entries come, in steps, and never all of a level in one transaction. A full
  -- segment is merged as a whole.
  INSERT INTO texts (texts, rank) VALUES ('automerge', 16), ('crisismerge', 256);
  CREATE TABLE counts (
    room TEXT NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (room, kind)
  ) WITHOUT ROWID, STRICT;
  -- Entries before, of whose authors it has the names as those who are answered.
  CREATE TABLE answered (seq INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE chunks (
    kind TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    PRIMARY KEY (kind, first)
  ) WITHOUT ROWID, STRICT;
  -- position: the newest entry of the segment that is in it.
  CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT;
`;

export function indexFile(paths: DataPaths, number: number): string {
  return join(segmentFolder(paths, number), 'index.sqlite');
}

/** For the one thread that writes. Creates the tables if the file is new. */
export function openIndex(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    // Not flushed: after a crash, the segment is made again. Only a commit changes the file.
    db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_spill = OFF');
    db.exec('PRAGMA cache_size = -2048');
    const isNew = db.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count'] === 0;
    if (isNew) db.exec(`BEGIN; ${TABLES}; COMMIT`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A connection for reading, and its statements, which are prepared once. */
export class IndexConnection {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** `isSealed`: SQLite then neither locks the file nor looks for changes. */
  constructor(file: string, isSealed: boolean) {
    const url = pathToFileURL(file);
    if (isSealed) url.searchParams.set('immutable', '1');
    this.#db = new DatabaseSync(url, { readOnly: true, timeout: 0 });
    this.#db.exec('PRAGMA cache_size = -512');
  }

  statement(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }
}

const SQLITE_ERROR = 1;
const SQLITE_READONLY = 8;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/**
 * Whether the file has changed. SQLITE_ERROR: a table has changed. Other errors, such as too many open files,
 * may pass.
 */
export function isCorrupt(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  const code = Number(error.errcode) & 0xff;
  return [SQLITE_ERROR, SQLITE_READONLY, SQLITE_CORRUPT, SQLITE_NOTADB].includes(code);
}
