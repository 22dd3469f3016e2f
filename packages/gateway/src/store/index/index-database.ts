/**
 * `index.sqlite`: everything that is derived from the log, as far as `position`. A kill or a power cut leaves an
 * earlier position. A file that does not fit the log is made anew.
 *
 * The words and facets of 2^18 consecutive entries, a part, are one FTS5 table: what a search costs in a part
 * depends on that part alone, and so does what it costs to withhold an entry.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import type { Seq } from '../../log/log.ts';
import { assertStorageFault } from '../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled, openForReading, readPragma } from '../database.ts';
import type { SharedState } from '../shared-state.ts';

/** Must change with the tables, with the tokenizer, and with which values are searched. */
const INDEX_FORMAT = 2;

const TABLES = `
  CREATE TABLE counts (
    part INTEGER NOT NULL,
    kind TEXT NOT NULL,
    room TEXT NOT NULL,
    count INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (part, kind, room)
  ) WITHOUT ROWID, STRICT;
  -- Withheld and hidden entries: searches and counts leave these out. isErased: their words and facets are not in
  -- the index.
  CREATE TABLE left_out (seq INTEGER PRIMARY KEY, isErased INTEGER NOT NULL) STRICT;
  -- One row. position: the newest entry in the index. link: that of this entry, in hex. merged: how many parts
  -- are full and merged. known: the newest case that left_out has.
  CREATE TABLE state (
    log TEXT NOT NULL,
    partSize INTEGER NOT NULL,
    position INTEGER NOT NULL,
    link TEXT,
    merged INTEGER NOT NULL,
    known INTEGER NOT NULL
  ) STRICT;
  -- See frames.ts. previous: the last entry of the kind before the frame if that is known, else the seq before the
  -- frame. known: the newest withholding when it was made. crc: of the text; joined: of a joiner and the text. A
  -- number is used once: a reader who reads on notices that the frame was made again.
  CREATE TABLE frames (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    count INTEGER NOT NULL,
    known INTEGER NOT NULL,
    size INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    joined INTEGER NOT NULL,
    zstd BLOB NOT NULL,
    gzip BLOB NOT NULL
  ) STRICT;
  CREATE INDEX frames_of_kind ON frames (kind, last)`;

export interface IndexState {
  readonly log: string;
  readonly partSize: number;
  readonly position: Seq;
  readonly link: string | null;
  readonly merged: number;
  readonly known: number;
}

/** For the one thread that writes. The file may be new, and have no tables. */
export function openIndexForWriting(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    // ON overwrites what a merge leaves behind: those entries may be withheld later.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON');
    db.exec('PRAGMA cache_size = -4096');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function createIndex(db: DatabaseSync, log: string, partSize: number): void {
  db.exec(`BEGIN; ${TABLES}; PRAGMA user_version = ${INDEX_FORMAT}; COMMIT`);
  db.prepare('INSERT INTO state VALUES (?, ?, 0, NULL, 0, 0)').run(log, partSize);
  // A reader may go on with a frame of an index that was there before.
  db.prepare("INSERT INTO sqlite_sequence VALUES ('frames', ?)").run(1000 * Date.now());
}

/** Undefined if the file is new, or has another format. */
export function readState(db: DatabaseSync): IndexState | undefined {
  if (readPragma(db, 'user_version') !== INDEX_FORMAT) return undefined;
  return db.prepare('SELECT * FROM state').get() as IndexState | undefined;
}

/** The name of the table of a part. */
export function tableOf(part: number): string {
  return `texts_${part}`;
}

// `ascii` splits at spaces, and leaves the words of our own tokenizer as they are. Few levels are merged while
// entries come, and never all in one transaction: a full part is merged as a whole.
export function createPart(db: DatabaseSync, part: number): void {
  const table = tableOf(part);
  const options = `content='', contentless_delete=1, detail=full, tokenize="ascii"`;
  db.exec(`CREATE VIRTUAL TABLE ${table} USING fts5(words, facets, ${options});
    INSERT INTO ${table} (${table}, rank) VALUES ('automerge', 16), ('crisismerge', 256)`);
}

/** Prepares each statement once. */
export class Statements {
  readonly #db: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.#db.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/** Reads the index in any thread. No statement is held from one turn of the event loop to the next. */
export class IndexReader implements Disposable {
  readonly #file: string;
  readonly #shared: SharedState;
  readonly #onSpoiled: (version: number) => void;
  #open: { readonly version: number; db: DatabaseSync; statements: Statements } | undefined;

  /** `onSpoiled`: called where the index of this version is not what was written. */
  constructor({ index }: DataPaths, shared: SharedState, onSpoiled: (version: number) => void) {
    this.#file = index;
    this.#shared = shared;
    this.#onSpoiled = onSpoiled;
  }

  /** Undefined if the index cannot be read: the log has to be read in its place. */
  read<T>(read: (index: IndexReader) => T): T | undefined {
    try {
      return read(this);
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  /** Throws what is no storage fault. */
  failed(error: unknown): void {
    assertStorageFault(error);
    if (isSpoiled(error)) this.#onSpoiled(this.#open?.version ?? this.#shared.indexVersion);
  }

  statement(sql: string): StatementSync {
    const { indexVersion: version } = this.#shared;
    if (this.#open?.version !== version) {
      this[Symbol.dispose]();
      const db = openForReading(this.#file, 2048);
      this.#open = { version, db, statements: new Statements(db) };
    }
    return this.#open.statements.get(sql);
  }

  [Symbol.dispose](): void {
    this.#open?.db.close();
    this.#open = undefined;
  }
}
