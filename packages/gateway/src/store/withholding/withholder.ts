/**
 * Withholds, hides and shows entries, in the writer's thread. One transaction lists them in the table `withheld`:
 * from then on, every reader leaves them out, or has them again. The index follows in one transaction. What is
 * hidden stays in its row, its file and the index. What is withheld is then erased, some entries at a time, between
 * which others append: from the files of large entries, from the rows and the WAL, and by its own thread from the
 * index. A start goes on with what is not erased.
 *
 * Invariant: What was withheld is in no file of the folder, in no answer of any door, and in no
 *   read that goes on.
 * Test: `packages/gateway/src/store/withholding.test.ts` “is in no file of the folder any
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
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { removeDatabase } from '../database.ts';
import { finalPath } from '../large/large-files.ts';
import { openLogForReading } from '../log/log-database.ts';
import { RowReader } from '../log/row-reader.ts';
import { rowEraser } from '../log/row-writer.ts';
import { flushFolder } from '../prepare-folder.ts';
import { hasStreamMessages, StreamMessages } from '../replica/stream-messages.ts';
import type { SharedState } from '../shared-state.ts';
import type { Writer } from '../writer/writer.ts';
import { type Cases, lastWithheld, listCases, setErased, unerased } from './withheld-table.ts';

/** Entries whose rows are erased in one transaction. */
const STEP_SIZE = 500;

/** What is listed, and its end. */
interface Decision {
  /** How many entries have another state. */
  readonly count: number;
  readonly last: number;
  readonly isErasing: boolean;
  readonly done: PromiseWithResolvers<number>;
}

export class Withholder {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #writer: Writer;
  /** Reads only: where nothing is to be done, a full disk does not matter. */
  readonly #log: DatabaseSync;
  #decisions: Decision[] = [];
  /** The newest case whose row is erased. */
  #erasedUpTo = 0;
  /** Whether the WAL may still have what was erased. */
  #isInWal = false;

  constructor(paths: DataPaths, shared: SharedState, writer: Writer) {
    this.#paths = paths;
    this.#shared = shared;
    this.#writer = writer;
    this.#log = openLogForReading(paths);
    shared.withheld = shared.withheldInLog = lastWithheld(this.#log);
  }

  /** All or none, in one transaction. Resolves with how many have another state, once nothing is left to be erased. */
  withhold(all: readonly Cases[]): Promise<number> {
    const count = this.#writer.change((log) => {
      let sum = 0;
      for (const cases of all) sum += listCases(log, cases);
      if (!hasStreamMessages(log)) return sum;
      const messages = new StreamMessages(log);
      // Hidden text stays in the stream: a new copy needs it to show the entry again.
      for (const { seqs, state } of all)
        if (state === 'withheld') for (const seq of seqs) messages.withheld(seq);
      return sum;
    });
    this.changed();
    const done = Promise.withResolvers<number>();
    const isErasing = all.some(({ state }) => state === 'withheld');
    this.#decisions.push({ count, last: this.#shared.withheldInLog, isErasing, done });
    return done.promise;
  }

  /** To be called when cases were listed. */
  changed(): void {
    this.#shared.withheldInLog = lastWithheld(this.#log);
    this.#shared.wakeWaiters();
  }

  /** Takes the next step. 'waiting': for other threads. Throws a storage fault. */
  erase(): 'done' | 'more' | 'waiting' {
    const shared = this.#shared;
    if (!shared.hasIndexes) this.#removeDerived();
    const last = shared.withheldInLog;
    if (shared.derivedWithheld < last) return 'waiting';
    if (shared.withheld < last) {
      // From here on, no thread uses what it has read before.
      shared.withheld = last;
      shared.wakeWaiters();
    }
    this.#settle(({ isErasing }) => !isErasing);
    const step = unerased(this.#log, this.#erasedUpTo, STEP_SIZE);
    if (step.length > 0) {
      this.#eraseRows(step.map(({ seq }) => seq));
      this.#erasedUpTo = step.at(-1)?.number ?? 0;
      this.#isInWal = true;
      return 'more';
    }
    if (this.#isInWal && !this.#writer.truncateWal()) return 'waiting';
    this.#isInWal = false;
    if (shared.derivedErased < last) return 'waiting';
    if (unerased(this.#log, 0, 1).length > 0) this.#writer.change((log) => setErased(log, last));
    this.#settle(() => true);
    return 'done';
  }

  close(): void {
    this.#log.close();
  }

  #settle(isDone: (decision: Decision) => boolean): void {
    const { withheld } = this.#shared;
    const [done, left] = [[] as Decision[], [] as Decision[]];
    for (const one of this.#decisions)
      (one.last <= withheld && isDone(one) ? done : left).push(one);
    this.#decisions = left;
    for (const { done: end, count } of done) end.resolve(count);
  }

  #eraseRows(seqs: readonly Seq[]): void {
    const large = this.#log.prepare('SELECT name FROM large WHERE seq = ?');
    for (const seq of seqs) {
      const name = large.get(seq)?.['name'];
      if (typeof name === 'string') eraseFiles(this.#paths, name);
    }
    this.#writer.change((log) => {
      const erase = rowEraser(log, new RowReader(log));
      // Of a row that has lost its form, the new one may be shorter.
      log.exec('PRAGMA secure_delete = ON');
      for (const seq of seqs) erase(seq);
      log.exec('PRAGMA secure_delete = FAST');
    });
  }

  /** The next start with indexes makes them again. */
  #removeDerived(): void {
    const { withheldInLog } = this.#shared;
    if (unerased(this.#log, 0, 1).length > 0) {
      removeDatabase(this.#paths.index);
      flushFolder(this.#paths.folder);
    }
    this.#shared.derivedWithheld = this.#shared.derivedErased = withheldInLog;
  }
}

/** Whoever reads on in a file finds its end. */
function eraseFiles(paths: DataPaths, name: string): void {
  const path = finalPath(paths, name);
  if (!existsSync(path)) return;
  truncateSync(path);
  rmSync(path);
  flushFolder(dirname(path));
}
