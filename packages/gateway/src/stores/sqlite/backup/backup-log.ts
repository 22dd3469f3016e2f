/**
 * The `log.sqlite` of a backup while it is brought up to date. Rows are added in short transactions, so
 * that the WAL of the source can shrink meanwhile, and an interruption leaves what was committed.
 */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { readable, readPragma } from '../database.ts';
import { RowReader, type SeqSpan } from '../log/row-reader.ts';
import { isLargeName } from '../log/entry-row.ts';
import { rowEraser } from '../withholding/erase-row.ts';
import { createLog } from '../log/log-database.ts';
import { copyStreamState, leaveStream } from '../replica/stream-progress.ts';
import { eraseFiles, removeDigests } from './copy-files.ts';

/** Entries that are copied in one transaction. */
const PAGE_ENTRIES = 4096;
const SPAN = 'seq BETWEEN ? AND ?';
const UNLIKE = `SELECT seq FROM source.withheld AS theirs WHERE NOT EXISTS (
  SELECT 1 FROM main.withheld AS ours WHERE ours.seq = theirs.seq AND ours.number = theirs.number
    AND ours.time = theirs.time AND ours.reason = theirs.reason AND ours.digest = theirs.digest)`;
// What the backup alone knows to be withheld stays so, and is numbered after the others.
const REPLACE_WITHHELD = `
  CREATE TEMP TABLE known AS SELECT * FROM main.withheld
    WHERE seq NOT IN (SELECT seq FROM source.withheld);
  DELETE FROM main.withheld;
  INSERT INTO main.withheld SELECT number, seq, time, reason, digest, 1 FROM source.withheld;
  INSERT INTO main.withheld
    SELECT (SELECT max(coalesce(max(number), 0), 0) FROM main.withheld)
      + row_number() OVER (ORDER BY number), seq, time, reason, digest, 1 FROM known;
  DROP TABLE known`;
/** SQLite's codes for a constraint, a spoiled page, and a spoiled file. */
const SPOILED = new Set([19, 11, 26]);

/** Where the log ended at one moment. */
export interface SourceEnd {
  readonly head: Seq;
  /** Whether it is a copy of a cluster's log. */
  readonly isCopy: boolean;
  /** Entries whose withholding is new to the backup. */
  readonly withheld: readonly Seq[];
}

export class BackupLog implements Disposable {
  readonly db: DatabaseSync;
  readonly reader: RowReader;
  readonly #paths: DataPaths;
  readonly #erase: (seq: Seq) => void;

  /** Makes a log where there is none. `name`: of the log in `source`. */
  constructor(paths: DataPaths, source: DataPaths, name: string) {
    this.#paths = paths;
    this.db = new DatabaseSync(paths.log, { timeout: 5000 });
    try {
      // One file, without a WAL, once it is closed.
      this.db.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL');
      this.db.exec('PRAGMA secure_delete = ON; PRAGMA cache_size = -65536');
      if (readPragma(this.db, 'user_version') === 0) createLog(this.db);
      this.db.prepare('ATTACH ? AS source').run(`${pathToFileURL(source.log).href}?mode=ro`);
      this.reader = new RowReader(this.db);
      this.#erase = rowEraser(this.db, this.reader);
      this.db
        .prepare("UPDATE main.meta SET value = ?1 WHERE name = 'name' AND value <> ?1")
        .run(name);
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  /**
   * Takes over, in one transaction, what is withheld and what a copy knows of its stream. Both are as of
   * the head that it returns.
   */
  begin(): SourceEnd {
    return this.#transact(() => {
      leaveStream(this.db);
      const isCopy = readable(() => copyStreamState(this.db, 'source'));
      if (isCopy !== true) leaveStream(this.db);
      const withheld = this.#unlike();
      if (withheld.length > 0) this.db.exec(REPLACE_WITHHELD);
      for (const seq of withheld) this.#eraseEntry(seq);
      const head = Number(this.#get('SELECT max(seq) AS head FROM source.entries')?.['head'] ?? 0);
      return { head, withheld, isCopy: isCopy === true };
    });
  }

  /** Whether anything was written since it was opened. */
  hasChanged(): boolean {
    return this.#get('SELECT total_changes() AS count')?.['count'] !== 0;
  }

  /** Whether the source has withheld entries since the backup took that over. */
  isBehind(): boolean {
    return this.#unlike().length > 0;
  }

  /**
   * Adds the entries in the span that it lacks and SQLite can read. What is withheld comes without what the
   * visitor said. Yields how far it has come.
   */
  *add({ from, to }: SeqSpan): Generator<Seq> {
    const withheld = this.db.prepare(`SELECT seq FROM main.withheld WHERE ${SPAN}`);
    for (let at = from; at <= to; at += PAGE_ENTRIES) {
      const end = Math.min(to, at + PAGE_ENTRIES - 1);
      this.#transact(() => {
        for (const table of ['entries', 'large'])
          this.#copy('IGNORE', table, { from: at, to: end });
        for (const { seq } of withheld.all(at, end)) this.#eraseEntry(Number(seq));
      });
      yield end;
    }
  }

  /** Puts the row of the source in the place of its own. */
  replace(seq: Seq): void {
    this.#transact(() => {
      this.#run('DELETE FROM main.large WHERE seq = ?', seq);
      for (const table of ['entries', 'large'])
        this.#copy('REPLACE', table, { from: seq, to: seq });
      if (this.#get('SELECT 1 FROM main.withheld WHERE seq = ?', seq)) this.#eraseEntry(seq);
    });
  }

  /** Undefined where it has none, or one that leads elsewhere. */
  largeName(seq: Seq): string | undefined {
    const row = this.#get('SELECT name FROM main.large WHERE seq = ?', seq);
    const name = String(row?.['name']);
    return isLargeName(name) ? name : undefined;
  }

  /** Makes again what is derived within the file. Returns what has lost its form nevertheless. */
  rebuildIndexes(): string | undefined {
    this.db.exec('REINDEX main.large; REINDEX main.withheld');
    const found = String(this.#get('PRAGMA main.quick_check(1)')?.['quick_check']);
    return found === 'ok' ? undefined : found.replaceAll(/\s+/g, ' ');
  }

  [Symbol.dispose](): void {
    if (this.db.isOpen) this.db.close();
  }

  #unlike(): Seq[] {
    return this.db
      .prepare(UNLIKE)
      .all()
      .map(({ seq }) => Number(seq));
  }

  /** The files first: until the row is erased, an interruption leaves their names. */
  #eraseEntry(seq: Seq): void {
    const name = this.largeName(seq);
    if (name !== undefined) {
      eraseFiles(this.#paths, name);
      removeDigests(this.db, name);
    }
    if (readable(() => this.reader.stored(seq))?.isErased === true)
      this.#run('DELETE FROM main.large WHERE seq = ?', seq);
    else this.#erase(seq);
  }

  #copy(conflict: 'IGNORE' | 'REPLACE', table: string, { from, to }: SeqSpan): void {
    const insert = this.db.prepare(
      `INSERT OR ${conflict} INTO main.${table} SELECT * FROM source.${table} WHERE ${SPAN}`,
    );
    if (isCopied(() => insert.run(from, to))) return;
    for (let seq = from; seq <= to; seq += 1) isCopied(() => insert.run(seq, seq));
  }

  #transact<T>(work: () => T): T {
    this.db.exec('BEGIN');
    try {
      const result = work();
      this.db.exec('COMMIT');
      return result;
    } finally {
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
    }
  }

  #run(sql: string, ...values: SQLInputValue[]): void {
    this.db.prepare(sql).run(...values);
  }

  #get(sql: string, ...values: SQLInputValue[]): Record<string, unknown> | undefined {
    return this.db.prepare(sql).get(...values);
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
