/**
 * Withholds entries, in the writer's thread, in short steps. Between the steps, others append. The first
 * step is one transaction, which decides that all of them are withheld. It lists them in the table
 * `withheld`; if they are many, later steps list them. The next steps mark their rows: from then on, every
 * reader gives them as withheld. The last steps erase the text: first from segments and chunks, whose
 * threads still need to read it, then from the rows, the files of large entries, and the WAL. A start goes
 * on with what is not erased.
 *
 * Invariant: What was withheld is in no file of the folder, in no answer of any door, and in no
 *   read that goes on.
 * Test: `packages/gateway/src/stores/sqlite/withholding.test.ts` “is in no file of the folder any
 *   more, and in no read that goes on” “takes its own place in every read that has paused before
 *   it” “stays or is withheld with all others, wherever the process is killed”
 * Test: `packages/gateway/src/doors/rest/withheld.test.ts` “is in no answer of any door, nor in
 *   what was cached before”
 * Test: `test/withhold/withhold.test.ts` “takes away what was said, beside a running gateway”
 * Test: `test/live/withheld-while-stalled.test.ts` “a stream whose reader has stalled within an
 *   entry ends where that is withheld”
 */
import { existsSync, rmSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { assertStorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { readable, transact } from '../database.ts';
import { flushFolder } from '../prepare-folder.ts';
import type { SharedState } from '../shared-state.ts';
import { RowReader } from '../log/row-reader.ts';
import {
  hasDecided,
  lastWithheld,
  numberWithheld,
  PART_SIZE,
  storeDecided,
  takeDecided,
  unerased,
  withheldInserter,
  type WithheldItem,
  type WithheldLookup,
  withheldLookup,
} from './withheld-table.ts';
import { flagsOf, sumOf } from '../log/entry-row.ts';
import { rowEraser } from '../log/row-writer.ts';
import { filesOf, finalPath } from '../large/large-files.ts';
import { openLogForReading, openLogForRepair } from '../log/log-database.ts';
import { hasStreamMessages, StreamMessages } from '../replica/stream-messages.ts';

/** Readers hold the WAL for less; the writer waits for so long at most, and tries again later. */
const BUSY_TIMEOUT_MS = 100;
/** Entries whose rows are marked or erased in one transaction. */
const STEP_SIZE = 100;

export class Withholder {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  /** Listed entries whose rows may not be marked yet. Undefined where the table has to be asked. */
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

  /** Does the next step. 'waiting': other threads have to erase it first. Throws a storage fault. */
  erase(): 'done' | 'more' | 'waiting' {
    if (!this.#list() || !this.#mark()) return 'more';
    const step = this.#unerased();
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
    this.#isInWal = true;
    if (step.length === 0) {
      this.#isInWal = !log.truncateWal();
      return this.#isInWal ? 'waiting' : 'done';
    }
    for (const seq of step) eraseFiles(this.#paths, log.largeName(seq));
    transact(log.db, () => {
      for (const seq of step) log.erase(seq);
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
      for (const { seq } of items) messages.withheld(seq);
    });
    this.#listed.count += lastWithheld(log.db) - before;
    for (const { seq } of items) this.#unmarked?.push(seq);
  }

  /** Does not write: where nothing is to be done, a full disk does not matter. */
  #unerased(): Seq[] {
    using db = openLogForReading(this.#paths);
    return unerased(db, STEP_SIZE);
  }

  #findUnmarked(): Seq[] {
    using db = openLogForReading(this.#paths);
    const log = new RowReader(db);
    return unerased(db).filter((seq) => readable(() => log.stored(seq))?.isWithheld === false);
  }

  /** Marks the next rows. Returns whether all are marked, and then makes them known. */
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
    if (unerased(db, 1).length === 0) shared.derivedWithheld = shared.withheld = last;
    shared.withheldInLog = last;
    shared.wakeWaiters();
    return true;
  }

  /** The next start with indexes makes them again. */
  #removeDerived(): void {
    rmSync(this.#paths.segments, { recursive: true, force: true });
    flushFolder(this.#paths.folder);
    this.#shared.derivedWithheld = this.#shared.withheldInLog;
  }
}

/** A connection beside that of the writer, whose free space keeps nothing. */
class WithholdingLog implements Disposable {
  readonly db: DatabaseSync;
  readonly #log: RowReader;
  readonly #mark: StatementSync;
  readonly #erase: (seq: Seq) => void;
  readonly #setErased: StatementSync;
  readonly #insert: ReturnType<typeof withheldInserter>;
  readonly #lookup: WithheldLookup;

  constructor(paths: DataPaths) {
    this.db = openLogForRepair(paths);
    this.#log = new RowReader(this.db);
    this.#mark = this.db.prepare('UPDATE entries SET flags = ?, sum = ? WHERE seq = ?');
    this.#erase = rowEraser(this.db, this.#log);
    this.#setErased = this.db.prepare('UPDATE withheld SET isErased = 1 WHERE seq = ?');
    this.#insert = withheldInserter(this.db);
    this.#lookup = withheldLookup(this.db);
  }

  list({ seq, ...row }: WithheldItem): void {
    if (this.#lookup(seq) === undefined) this.#insert(seq, row, false);
    else numberWithheld(this.db, seq);
  }

  mark(seq: Seq): void {
    const stored = readable(() => this.#log.stored(seq));
    if (stored?.isWithheld !== false) return;
    const { file, marked, portability, facets } = stored;
    const flags = flagsOf({ large: file, marked, portability, isWithheld: true });
    this.#mark.run(flags, sumOf(flags, facets, file), seq);
  }

  erase(seq: Seq): void {
    this.#erase(seq);
    this.#setErased.run(seq);
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
  for (const file of filesOf(name))
    for (const path of [finalPath(paths, file), join(paths.incoming, file)]) {
      if (!existsSync(path)) continue;
      truncateSync(path);
      rmSync(path);
    }
  flushFolder(dirname(finalPath(paths, name)));
}
