/**
 * Withholds, hides and shows entries, in the writer's thread, in short steps. Between the steps, others append.
 * The first step is one transaction, which decides it for all of them. It lists them in the table
 * `withheld`; if they are many, later steps list them. The next steps mark their rows: from then on, readers
 * leave them out, whatever the index still has. The last steps erase the text: first from the index, whose
 * thread still needs to read it, then from the rows, the files of large entries, and the WAL. A start goes
 * on with what is not erased. What is hidden stays in its rows and files. To show it takes the marks away, and
 * the entries are indexed again.
 *
 * Invariant: What was withheld is in no file of the folder, in no answer of any door, and in no
 *   read that goes on.
 * Test: `packages/gateway/src/stores/sqlite/withholding.test.ts` “is in no file of the folder any
 *   more, and in no read that goes on” “is left out of every read that has paused before
 *   it is …” “stays or is withheld with all others, wherever the process is killed”
 * Test: `packages/gateway/src/doors/rest/withheld.test.ts` “is in no answer of any door, nor in
 *   what was cached before”
 * Test: `test/withhold/withhold.test.ts` “takes away what was said, beside a running gateway”
 * Test: `test/live/withheld-while-stalled.test.ts` “a stream whose reader has stalled within an
 *   entry ends where that is withheld”
 *
 * Invariant: What is hidden is in no answer, and is shown again byte for byte.
 * Test: `test/log-contract/withholding.ts` “is given as withheld, found by nothing that it says, and shown
 *   again byte for byte”
 */
import { existsSync, rmSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { assertStorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { readable, removeDatabase, transact } from '../database.ts';
import { flushFolder } from '../prepare-folder.ts';
import type { SharedState } from '../shared-state.ts';
import { RowReader } from '../log/row-reader.ts';
import {
  caseLister,
  hasDecided,
  lastWithheld,
  PART_SIZE,
  storeDecided,
  takeDecided,
  unfinished,
  type WithheldItem,
} from './withheld-table.ts';
import { makeRanges, rangeMarker } from './withheld-ranges.ts';
import { flagsOf, sumOf } from '../log/entry-row.ts';
import { rowEraser } from '../log/row-writer.ts';
import { finalPath } from '../large/large-files.ts';
import { openLogForReading, openLogToErase } from '../log/log-database.ts';
import { hasStreamMessages, StreamMessages } from '../replica/stream-messages.ts';

/** Readers hold the WAL for less. The writer waits this long at most, and tries again later. */
const BUSY_TIMEOUT_MS = 100;
/** Entries whose rows are marked or erased in one transaction. */
const STEP_SIZE = 100;

export class Withholder {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  /** Listed entries whose rows may not be marked yet. Undefined if only the table knows. */
  #unmarked: Seq[] | undefined;
  /** The entries of the last withholding that were not withheld before, as far as they are listed. */
  #listed: { count: number } = { count: 0 };
  /** Whether the WAL may still have what was erased. */
  #isInWal: boolean;

  constructor(paths: DataPaths, shared: SharedState) {
    this.#paths = paths;
    this.#shared = shared;
    using db = openLogForReading(paths);
    shared.withheld = lastWithheld(db);
    this.#isInWal = shared.withheld > 0;
    try {
      using log = openLogToErase(paths);
      makeRanges(log);
      while (!this.#list());
      while (!this.#mark());
    } catch (error) {
      // As on a full disk. The next step tries again.
      assertStorageFault(error);
    }
  }

  /** All or none, in one transaction. Returns how many were not withheld before. `erase` removes their text later. */
  withhold(items: readonly WithheldItem[]): { readonly count: number } {
    // One that was decided before is listed first.
    while (!this.#list());
    using log = new WithholdingLog(this.#paths);
    this.#listed = { count: 0 };
    if (items.length > PART_SIZE) transact(log.db, () => storeDecided(log.db, items));
    else this.#listAll(log, () => items);
    return this.#listed;
  }

  /** To be called when others have listed entries, before `erase`. */
  changed(): void {
    this.#unmarked = undefined;
  }

  /** Takes the next step. 'waiting': other threads have to erase first. Throws a storage fault. */
  erase(): 'done' | 'more' | 'waiting' {
    if (!this.#list() || !this.#mark()) return 'more';
    const step = this.#unfinished();
    if (step.length === 0 && !this.#isInWal) return 'done';
    const shared = this.#shared;
    if (!shared.hasIndexes) this.#removeDerived();
    const last = shared.withheldInLog;
    if (shared.derivedWithheld < last) {
      shared.wakeWaiters();
      return 'waiting';
    }
    // From here on, no thread uses what it has read before.
    shared.withheld = last;
    shared.wakeWaiters();
    using log = new WithholdingLog(this.#paths);
    if (step.length === 0) {
      this.#isInWal = !log.truncateWal();
      return this.#isInWal ? 'waiting' : 'done';
    }
    const erased = step.filter(({ state }) => state === 'withheld');
    this.#isInWal ||= erased.length > 0;
    for (const { seq } of erased) eraseFiles(this.#paths, log.largeName(seq));
    transact(log.db, () => {
      for (const { seq } of erased) log.erase(seq);
      for (const { seq } of step) log.finish(seq);
    });
    return 'more';
  }

  /** Lists the next part of what is decided. Returns whether all is listed. */
  #list(): boolean {
    {
      using db = openLogForReading(this.#paths);
      if (!hasDecided(db)) return true;
    }
    using log = new WithholdingLog(this.#paths);
    this.#listAll(log, () => takeDecided(log.db));
    return false;
  }

  /** In one transaction. */
  #listAll(log: WithholdingLog, take: () => readonly WithheldItem[]): void {
    const before = lastWithheld(log.db);
    let items: readonly WithheldItem[] = [];
    transact(log.db, () => {
      items = take();
      for (const item of items) log.list(item);
      if (!hasStreamMessages(log.db)) return;
      const messages = new StreamMessages(log.db);
      // Hidden text stays in the stream: a new copy needs it to show the entry again.
      for (const { seq, state } of items) if (state === 'withheld') messages.withheld(seq);
    });
    this.#listed.count += lastWithheld(log.db) - before;
    for (const { seq } of items) this.#unmarked?.push(seq);
  }

  /** Does not write: where nothing is to be done, a full disk does not matter. */
  #unfinished(): ReturnType<typeof unfinished> {
    using db = openLogForReading(this.#paths);
    return unfinished(db, STEP_SIZE);
  }

  #findUnmarked(): Seq[] {
    using db = openLogForReading(this.#paths);
    const log = new RowReader(db);
    return unfinished(db).flatMap(({ seq, state }) => {
      const stored = readable(() => log.stored(seq));
      // What came erased cannot be shown.
      const isMarked = stored?.isErased !== false || stored.isWithheld === (state !== 'shown');
      return isMarked ? [] : [seq];
    });
  }

  /** Marks the next rows. After the last, tells readers. Returns whether all are marked. */
  #mark(): boolean {
    this.#unmarked ??= this.#findUnmarked();
    const step = this.#unmarked.slice(0, STEP_SIZE);
    if (step.length > 0) {
      using log = new WithholdingLog(this.#paths);
      transact(log.db, () => {
        for (const seq of step) log.mark(seq);
      });
      this.#unmarked.splice(0, step.length);
    }
    if (this.#unmarked.length > 0) return false;
    using db = openLogForReading(this.#paths);
    const shared = this.#shared;
    const last = lastWithheld(db);
    if (shared.withheldInLog === last) return true;
    if (unfinished(db, 1).length === 0) shared.derivedWithheld = shared.withheld = last;
    shared.withheldInLog = last;
    shared.wakeWaiters();
    return true;
  }

  /** The next start with indexes makes them again. */
  #removeDerived(): void {
    removeDatabase(this.#paths.index);
    flushFolder(this.#paths.folder);
    this.#shared.derivedWithheld = this.#shared.withheldInLog;
  }
}

/** A connection beside that of the writer, whose free space keeps nothing. */
class WithholdingLog implements Disposable {
  readonly db: DatabaseSync;
  readonly #log: RowReader;
  readonly #mark: StatementSync;
  readonly #finish: StatementSync;
  readonly #isTaken: StatementSync;
  readonly #markRange: ReturnType<typeof rangeMarker>;
  readonly erase: (seq: Seq) => void;
  readonly list: (item: WithheldItem) => void;

  constructor(paths: DataPaths) {
    this.db = openLogToErase(paths);
    this.#log = new RowReader(this.db);
    this.#mark = this.db.prepare('UPDATE entries SET flags = ?, sum = ? WHERE seq = ?');
    this.#finish = this.db.prepare('UPDATE withheld SET isErased = isErased | 1 WHERE seq = ?');
    this.#isTaken = this.db.prepare('SELECT 1 FROM withheld WHERE seq = ? AND isErased < 4');
    this.#markRange = rangeMarker(this.db);
    this.erase = rowEraser(this.db, this.#log);
    this.list = caseLister(this.db);
  }

  /** As withheld, or not any more. */
  mark(seq: Seq): void {
    const stored = readable(() => this.#log.stored(seq));
    const isWithheld = this.#isTaken.get(seq) !== undefined;
    if (stored?.isErased !== false || stored.isWithheld === isWithheld) return;
    const { file, portability, storedFacets } = stored;
    const flags = flagsOf({ large: file, portability, isWithheld });
    this.#mark.run(flags, sumOf(flags, storedFacets, file), seq);
    this.#markRange(seq, isWithheld);
  }

  finish(seq: Seq): void {
    this.#finish.run(seq);
  }

  /** The name of the file of its body, if it has one. */
  largeName(seq: Seq): string | undefined {
    const row = this.db.prepare('SELECT name FROM large WHERE seq = ?').get(seq);
    return row && String(row['name']);
  }

  /** Returns false where a reader holds it. */
  truncateWal(): boolean {
    this.db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return this.db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0;
  }

  [Symbol.dispose](): void {
    this.db.close();
  }
}

/** Whoever reads on in a file finds its end. */
function eraseFiles(paths: DataPaths, name: string | undefined): void {
  if (name === undefined) return;
  const path = finalPath(paths, name);
  if (!existsSync(path)) return;
  truncateSync(path);
  rmSync(path);
  flushFolder(dirname(path));
}
