/** The log of a backup. Rows are copied in short transactions: the source's WAL can shrink, and what is copied stays. */
import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { readable, readPragma, transact } from '../database.ts';
import { RowReader, type SeqSpan } from '../log/row-reader.ts';
import { isLargeName } from '../log/entry-row.ts';
import { createLog } from '../log/log-database.ts';
import { finalPath } from '../large/large-files.ts';
import { flushFolder } from '../prepare-folder.ts';
import { copyStreamState, leaveStream } from '../replica/stream-progress.ts';
import { rowEraser } from '../log/row-writer.ts';
import { WITHHELD_TABLE } from '../withholding/withheld-table.ts';

const SPAN = 'seq BETWEEN ? AND ?';
const UNLIKE = `SELECT seq FROM source.withheld AS theirs WHERE NOT EXISTS (
  SELECT 1 FROM main.withheld AS ours WHERE ours.seq = theirs.seq AND ours.number = theirs.number
    AND ours.time = theirs.time AND ours.reason = theirs.reason AND ours.digest = theirs.digest)`;
// Entries that only the backup withholds stay withheld and get the last numbers. If the source has not finished
// to hide or show an entry, the gateway that opens the backup finishes it.
const TAKE_WITHHELD = `
  UPDATE main.withheld SET number = -seq;
  DELETE FROM main.withheld WHERE seq IN (SELECT seq FROM source.withheld);
  INSERT INTO main.withheld SELECT number, seq, time, reason, digest, max(isErased, 1) FROM source.withheld`;
const TAKE_EARLIER = `DELETE FROM main.withheld_before;
  INSERT INTO main.withheld_before SELECT * FROM source.withheld_before`;
// A log that no gateway of this version has opened has no such table.
const HAS_EARLIER = "SELECT 1 FROM source.sqlite_schema WHERE name = 'withheld_before'";
const ERASED = 'isErased = 1';
/** SQLite's codes for a constraint, a spoiled page, and a spoiled file. */
const SPOILED = new Set([19, 11, 26]);

export interface SourceEnd {
  readonly head: Seq;
  readonly isCopy: boolean;
  /** Entries whose withholding is new to the backup. */
  readonly withheld: readonly Seq[];
}

export class BackupLog implements Disposable {
  readonly reader: RowReader;
  readonly #db: DatabaseSync;
  readonly #paths: DataPaths;
  readonly #erase: (seq: Seq) => void;

  /** Makes a log where there is none. `name`: of the log in `source`. */
  constructor(paths: DataPaths, source: DataPaths, name: string) {
    this.#paths = paths;
    this.#db = new DatabaseSync(paths.log, { timeout: 5000 });
    try {
      // One file, without a WAL, once it is closed.
      this.#db.exec(`PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;
        PRAGMA secure_delete = ON; PRAGMA cache_size = -65536`);
      if (readPragma(this.#db, 'user_version') === 0) createLog(this.#db);
      this.#db.exec(WITHHELD_TABLE);
      this.#db.prepare('ATTACH ? AS source').run(`${pathToFileURL(source.log).href}?mode=ro`);
      this.reader = new RowReader(this.#db);
      this.#erase = rowEraser(this.#db, this.reader);
      const rename = "UPDATE main.meta SET value = ?1 WHERE name = 'name' AND value <> ?1";
      this.#db.prepare(rename).run(name);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /**
   * Copies, in one transaction, the withheld entries and the state of the stream. Returns the head they belong
   * to.
   */
  begin(): SourceEnd {
    return transact(this.#db, () => {
      const withheld = this.#unlike();
      if (withheld.length > 0) this.#takeWithheld(withheld);
      const isCopy = readable(() => copyStreamState(this.#db, 'source')) === true;
      if (!isCopy) leaveStream(this.#db);
      const last = this.#db.prepare('SELECT max(seq) AS head FROM source.entries').get();
      return { head: Number(last?.['head'] ?? 0), withheld, isCopy };
    });
  }

  /** Of what is hidden or shown, the source has the row as it is now. */
  #takeWithheld(seqs: readonly Seq[]): void {
    this.#db.exec(TAKE_WITHHELD);
    if (this.#db.prepare(HAS_EARLIER).get() !== undefined) this.#db.exec(TAKE_EARLIER);
    const last = this.reader.lastSeq();
    const isErased = this.#db.prepare(`SELECT 1 FROM main.withheld WHERE seq = ? AND ${ERASED}`);
    for (const seq of seqs)
      if (isErased.get(seq) !== undefined) this.#eraseEntry(seq);
      else if (seq <= last) this.#copyRows('entries', { from: seq, to: seq }, 'REPLACE');
  }

  hasChanged(): boolean {
    return this.#db.prepare('SELECT total_changes() AS count').get()?.['count'] !== 0;
  }

  /** Whether the source has withheld entries since the backup took that over. */
  isBehind(): boolean {
    return this.#unlike().length > 0;
  }

  /** Copies the readable entries that it lacks (`IGNORE`), or all. Withheld ones come without their text. */
  copy(span: SeqSpan, existing: 'IGNORE' | 'REPLACE'): void {
    transact(this.#db, () => {
      for (const table of ['entries', 'large']) this.#copyRows(table, span, existing);
      for (const seq of this.#seqs(
        `SELECT seq FROM main.withheld WHERE ${SPAN} AND ${ERASED}`,
        span,
      ))
        this.#eraseEntry(seq);
    });
  }

  /**
   * The names of the large bodies in the span, except names that lead out of the folder: such an entry is
   * unreadable.
   */
  largeNames({ from, to }: SeqSpan): string[] {
    const rows = this.#db.prepare(`SELECT name FROM main.large WHERE ${SPAN}`).all(from, to);
    return rows.map(({ name }) => String(name)).filter(isLargeName);
  }

  /** Throws where that cannot help. */
  rebuildIndexes(): void {
    this.#db.exec('REINDEX main.large; REINDEX main.withheld');
    const found = String(this.#db.prepare('PRAGMA main.quick_check(1)').get()?.['quick_check']);
    if (found !== 'ok')
      throw new Error(
        `log.sqlite of the backup has lost its form (${found.replaceAll(/\s+/g, ' ')}): make a new one in another folder`,
      );
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  #unlike(): Seq[] {
    return this.#seqs(UNLIKE);
  }

  #seqs(sql: string, span?: SeqSpan): Seq[] {
    const rows = this.#db.prepare(sql).all(...(span === undefined ? [] : [span.from, span.to]));
    return rows.map(({ seq }) => Number(seq));
  }

  /** The files first: until the row is erased, an interruption leaves their names. */
  #eraseEntry(seq: Seq): void {
    for (const name of this.largeNames({ from: seq, to: seq })) {
      const file = finalPath(this.#paths, name);
      rmSync(file, { force: true });
      if (existsSync(dirname(file))) flushFolder(dirname(file));
    }
    this.#erase(seq);
  }

  #copyRows(table: string, { from, to }: SeqSpan, existing: string): void {
    const insert = this.#db.prepare(
      `INSERT OR ${existing} INTO main.${table} SELECT * FROM source.${table} WHERE ${SPAN}`,
    );
    if (isCopied(() => insert.run(from, to))) return;
    for (let seq = from; seq <= to; seq += 1) isCopied(() => insert.run(seq, seq));
  }
}

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
