/**
 * Copies entries of a log into new segments: their rows, and the files of large bodies. Of an entry that
 * is withheld, nothing is copied that the visitor said, although the log may still have it for a moment.
 */
import { randomBytes } from 'node:crypto';
import { constants, mkdirSync, statSync } from 'node:fs';
import { copyFile, mkdir, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { RowReader, type SeqSpan } from '../log/row-reader.ts';
import { rowEraser } from '../withholding/erase-row.ts';
import { filesOf, finalPath } from '../large/large-files.ts';
import { plainDatabase } from '../plain-file.ts';
import { flushFolder } from '../prepare-folder.ts';
import { type BackupPaths, SEGMENTS } from './backup-folder.ts';
import type { Segment } from './manifest.ts';

/** A segment of so many bytes, with its large files, is complete. Smaller ones are written again. */
const SEGMENT_SIZE = 16 * 1024 * 1024;
const SEQ_DIGITS = 16;
/** Entries that are copied in one transaction. */
const PAGE_ENTRIES = 256;
const ROWS = 'rows.sqlite';
// Those of the log, as small as they can be.
const TABLES = `PRAGMA page_size = 512;
  CREATE TABLE entries (seq INTEGER PRIMARY KEY, time, kind, room, flags, link, salt, key, facets, sum, text);
  CREATE TABLE large (seq INTEGER PRIMARY KEY, name, size);
  CREATE TABLE withheld (number INTEGER PRIMARY KEY, seq, time, reason, digest, isErased)`;

export type WrittenSegment = Pick<Segment, 'name' | 'from' | 'to' | 'bytes'>;

export interface LogSource {
  readonly db: DatabaseSync;
  readonly paths: DataPaths;
}

export function isComplete({ bytes }: Pick<Segment, 'bytes'>): boolean {
  return bytes >= SEGMENT_SIZE;
}

/** The database with the rows of a segment. */
export function rowsFile(paths: BackupPaths, { name }: Pick<Segment, 'name'>): string {
  return plainDatabase(paths.folder, SEGMENTS, name, ROWS);
}

/** One after another. Each is flushed. */
export async function* writeSegments(
  source: LogSource,
  { from, to }: SeqSpan,
  target: BackupPaths,
): AsyncGenerator<WrittenSegment> {
  for (let at = from; at <= to;) {
    await using segment = new SegmentWriter(source, target, at);
    for (; at <= to && !isComplete(segment); at += PAGE_ENTRIES)
      await segment.add({ from: at, to: Math.min(to, at + PAGE_ENTRIES - 1) });
    at = Math.min(at, to + 1);
    yield await segment.finish(at - 1);
  }
}

class SegmentWriter implements AsyncDisposable {
  /** Of all files. */
  bytes = 0;
  readonly #source: LogSource;
  readonly #target: BackupPaths;
  readonly #from: number;
  readonly #name: string;
  readonly #folder: string;
  readonly #rows: DatabaseSync;
  #largeBytes = 0;

  constructor(source: LogSource, target: BackupPaths, from: number) {
    this.#source = source;
    this.#target = target;
    this.#from = from;
    this.#name = `${String(from).padStart(SEQ_DIGITS, '0')}-${randomBytes(4).toString('hex')}`;
    this.#folder = join(target.segments, this.#name);
    mkdirSync(this.#folder);
    this.#rows = new DatabaseSync(join(this.#folder, ROWS), { timeout: 5000 });
    // Flushed as a whole when it is complete.
    this.#rows.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    this.#rows.exec(TABLES);
    this.#rows.prepare('ATTACH ? AS log').run(`${pathToFileURL(source.paths.log).href}?mode=ro`);
  }

  async add(span: SeqSpan): Promise<void> {
    const { from, to } = span;
    const rows = this.#rows;
    rows.exec('BEGIN');
    try {
      copyRows(rows, 'log', span);
      const erase = rowEraser(rows, new RowReader(rows));
      const withheld = rows.prepare('SELECT seq FROM withheld WHERE seq BETWEEN ? AND ?');
      for (const { seq } of withheld.all(from, to)) erase(Number(seq));
      rows.exec('COMMIT');
    } finally {
      if (rows.isTransaction) rows.exec('ROLLBACK');
    }
    const names = rows.prepare('SELECT name FROM main.large WHERE seq BETWEEN ? AND ?');
    for (const { name } of names.all(from, to))
      for (const file of filesOf(String(name)))
        this.#largeBytes += await copyLarge(this.#source.paths, dataPathsIn(this.#folder), file);
    this.bytes = this.#largeBytes + statSync(join(this.#folder, ROWS)).size;
  }

  async finish(to: number): Promise<WrittenSegment> {
    this.#rows.close();
    await using handle = await open(join(this.#folder, ROWS), 'r+');
    await handle.sync();
    for (const folder of [this.#folder, this.#target.segments]) flushFolder(folder);
    return { name: this.#name, from: this.#from, to, bytes: this.bytes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#rows.isOpen) this.#rows.close();
  }
}

const SPAN = 'WHERE seq BETWEEN ? AND ?';

/**
 * Copies the rows of these entries from the attached database, within the caller's transaction. Leaves
 * out entries that SQLite cannot read.
 */
export function copyRows(db: DatabaseSync, attached: string, { from, to }: SeqSpan): void {
  const copy = (table: string): ((first: number, last: number) => unknown) => {
    const insert = db.prepare(
      `INSERT OR REPLACE INTO main.${table} SELECT * FROM ${attached}.${table} ${SPAN}`,
    );
    return (first, last) => insert.run(first, last);
  };
  const entries = copy('entries');
  if (!isCopied(() => entries(from, to)))
    for (let seq = from; seq <= to; seq += 1) isCopied(() => entries(seq, seq));
  for (const table of ['large', 'withheld']) copy(table)(from, to);
}

/** SQLite's codes for a constraint, a spoiled page, and a spoiled file. */
const SPOILED = new Set([19, 11, 26]);

function isCopied(copy: () => unknown): boolean {
  try {
    copy();
    return true;
  } catch (error) {
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
    if (SPOILED.has(code)) return false;
    throw error;
  }
}

/** Returns its size; 0 where there is none: not every body has all files, and some may be lost. */
async function copyLarge(source: DataPaths, target: DataPaths, file: string): Promise<number> {
  const to = finalPath(target, file);
  for (const from of [finalPath(source, file), join(source.incoming, file)]) {
    try {
      await stat(from);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') continue;
      throw error;
    }
    await mkdir(dirname(to), { recursive: true });
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await using copy = await open(to, 'r+');
    await copy.sync();
    for (const folder of [dirname(to), target.large]) flushFolder(folder);
    return (await copy.stat()).size;
  }
  return 0;
}
