/**
 * The words of all that visitors said: a reader of the log, in a file of its own. It never slows a
 * commit and owns nothing that cannot be made again.
 *
 * An entry whose text lies in its row is one row of the index, by its seq. A larger one is read in
 * pieces and has a row for each stretch of its words, beyond all others (`pieceOf`). Texts are not
 * kept a third time: the index has words and where they stand.
 */
import { rmSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';

import type { Seq } from '../../../log/log.ts';
import { StringValueReader, stringValuesIn } from '../../../json/string-values.ts';
import { AT_ONCE, wordsOf, WordStream } from '../../../search/tokenizer.ts';
import { largePiecesInPlace } from '../log/large-files.ts';
import { indexFormat, metaOf, openForReading, type DataPaths } from '../schema.ts';
import type { Shared } from '../shared.ts';

/** Changes with the tables, and with what counts as a word. */
const FORMAT = 1;
/** Entries and bytes of one transaction at most, save that one entry may be larger. */
const BATCH_ENTRIES = 4096;
const BATCH_SIZE = 4 * 1024 * 1024;
/** Characters of words in one row of a large entry, and rows of that size; later ones are longer. */
const ROW_LENGTH = 64 * 1024;
const ROWS_ALIKE = 2 ** 20;
/** Ends each value, so that no phrase reaches into the next: no word of anybody's. */
const DIVIDER = '\uf8ff';

// `ascii` leaves our words as they are: it divides at spaces.
const TABLES = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
  CREATE VIRTUAL TABLE texts USING
    fts5(words, content='', contentless_delete=0, detail=full, tokenize='ascii');
`;

/** Rows of large entries begin here, each entry with place for so many bits of them. */
const LARGE = 2n ** 62n;
const PIECE_BITS = 22n;

/** The place in the index of a piece of a large entry. */
export function pieceOf(seq: Seq, piece: number): bigint {
  return LARGE + (BigInt(seq) << PIECE_BITS) + BigInt(piece);
}

/** The last place that a large entry can have. */
export function lastPieceOf(seq: Seq): bigint {
  return pieceOf(seq + 1, 0) - 1n;
}

export function seqOfPiece(place: bigint): Seq {
  return Number((place - LARGE) >> PIECE_BITS);
}

interface Row {
  readonly seq: Seq;
  readonly head: number;
  readonly large: string | null;
  readonly text: Uint8Array;
}

export class WordsIndex {
  readonly #places: DataPaths;
  readonly #shared: Shared;
  readonly #log: DatabaseSync;
  readonly #db: DatabaseSync;
  readonly #rows: StatementSync;
  readonly #add: StatementSync;
  readonly #progress: StatementSync;

  /** Opens the index of this very log; an empty one where there is none that can be used. */
  constructor(places: DataPaths, shared: Shared) {
    this.#places = places;
    this.#shared = shared;
    this.#log = openForReading(places.log);
    // It goes through the log once, in order.
    this.#log.exec('PRAGMA cache_size = -256');
    this.#db = openMatching(this.#log, places, shared.head);
    this.#rows = this.#log.prepare(
      'SELECT seq, head, large, text FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq',
    );
    this.#add = this.#db.prepare('INSERT INTO texts (rowid, words) VALUES (?, ?)');
    this.#add.setReadBigInts(true);
    this.#progress = this.#db.prepare("INSERT OR REPLACE INTO meta VALUES ('searched', ?)");
    // It tells the row added last, which may be a piece.
    this.#progress.setReadBigInts(true);
    shared.searched = searchedIn(this.#db);
  }

  /** Takes in the next entries, if there are any; none where the signal ends it. */
  async step(signal: AbortSignal): Promise<void> {
    const from = this.#shared.searched;
    const most = Math.min(this.#shared.head, from + BATCH_ENTRIES);
    if (most <= from) return;
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const larges: Row[] = [];
      const to = this.#small(from, most, larges);
      // Behind the others: the index takes places in ascending order at least cost.
      for (const { seq, large } of larges) await this.#large(seq, large ?? '', signal);
      signal.throwIfAborted();
      this.#progress.run(to);
      this.#db.exec('COMMIT');
      this.#shared.searched = to;
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    }
  }

  close(): void {
    this.#db.close();
    this.#log.close();
  }

  #small(from: Seq, most: Seq, larges: Row[]): Seq {
    let size = 0;
    for (const found of this.#entries(from, most)) {
      const row = found as unknown as Row;
      if (row.large !== null) larges.push(row);
      else this.#add.run(row.seq, wordsIn(row));
      size += row.text.length;
      if (size >= BATCH_SIZE) return row.seq;
    }
    return most;
  }

  /** What is wrong with the log is not wrong with its words. */
  *#entries(from: Seq, most: Seq): Generator<Record<string, unknown>, void, undefined> {
    try {
      yield* this.#rows.iterate(from, most);
    } catch (error) {
      throw new Error(`Cannot read the log after ${from}: ${String(error)}`, { cause: error });
    }
  }

  async #large(seq: Seq, name: string, signal: AbortSignal): Promise<void> {
    let row: string[] = [];
    let length = 0;
    let piece = 0;
    const end = (): void => {
      if (length === 0) return;
      this.#add.run(pieceOf(seq, piece), row.join(' '));
      row = [];
      length = 0;
      piece += 1;
    };
    const add = (more: readonly string[]): void => {
      const joined = more.join(' ');
      row.push(joined);
      length += joined.length + 1;
      if (length >= ROW_LENGTH * 2 ** Math.floor(piece / ROWS_ALIKE)) end();
    };
    const words = new WordStream(add);
    const hearing = {
      text(said: string): void {
        for (let at = 0; at < said.length; at += AT_ONCE) words.push(said.slice(at, at + AT_ONCE));
      },
      end: (): void => {
        words.end();
        add([DIVIDER]);
      },
    };
    const reader = new StringValueReader(hearing);
    for (const bytes of largePiecesInPlace(this.#places, name)) {
      // Whoever asks has a turn between.
      await turn();
      signal.throwIfAborted();
      reader.feed(bytes);
    }
    end();
  }
}

/** Of an entry that lies in its row. */
function wordsIn({ head, text }: Row): string {
  let words = '';
  for (const value of stringValuesIn(text.subarray(head)))
    words += `${wordsOf(value).join(' ')} ${DIVIDER} `;
  return words;
}

function openMatching(log: DatabaseSync, places: DataPaths, head: Seq): DatabaseSync {
  const name = metaOf(log, 'name') ?? '';
  const known = openIfOurs(places, name, head);
  if (known !== undefined) return known;
  removeWords(places);
  const fresh = openForWriting(places);
  fresh.exec(`BEGIN IMMEDIATE; ${TABLES}; PRAGMA user_version = ${FORMAT}`);
  fresh.prepare("INSERT INTO meta VALUES ('log', ?)").run(name);
  fresh.exec('COMMIT');
  return fresh;
}

/** Throws where that cannot be told, as when there is no descriptor left: it may be whole. */
function openIfOurs(places: DataPaths, name: unknown, head: Seq): DatabaseSync | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = openForWriting(places);
    const ours = indexFormat(db) === FORMAT && metaOf(db, 'log') === name;
    if (ours && searchedIn(db) <= head) return db;
  } catch (error) {
    db?.close();
    if (isSpoiled(error) || errcodeOf(error) === NO_SUCH_TABLE) return undefined;
    throw error;
  }
  db.close();
  return undefined;
}

/** SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CORRUPT_VTAB. */
const SPOILED: ReadonlySet<unknown> = new Set([11, 26, 267]);
/** SQLITE_ERROR. */
const NO_SUCH_TABLE = 1;

/** Whether it says that the file is broken, or none of SQLite's. */
export function isSpoiled(error: unknown): boolean {
  return SPOILED.has(errcodeOf(error));
}

export function errcodeOf(error: unknown): unknown {
  return error instanceof Error && 'errcode' in error ? error.errcode : undefined;
}

/** Lets go of an index that cannot be used. */
export function removeWords(places: DataPaths): void {
  for (const end of ['', '-wal', '-shm']) rmSync(places.search + end, { force: true });
}

/** It is not flushed on every commit: what a power cut takes is read again. */
function openForWriting({ search }: DataPaths): DatabaseSync {
  const db = new DatabaseSync(search, { timeout: 5000 });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2048');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function searchedIn(db: DatabaseSync): Seq {
  const seq = metaOf(db, 'searched');
  return typeof seq === 'number' ? seq : 0;
}
