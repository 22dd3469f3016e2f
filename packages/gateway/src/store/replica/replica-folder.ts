/**
 * A data folder before it is opened: as the replica of a cluster's log, or to become one or none.
 *
 * Invariant: A copy that is restored from a backup goes on as the one that was backed up, from its
 *   place in the stream.
 * Test: `test/cluster/backup.test.ts` “as a further copy of its cluster, which has gone on since”
 * Test: `test/cluster/adopt.test.ts` “to go on in another stream, which takes no copy of the one
 *   before”
 * Test: `test/cluster/simulation/simulation.test.ts` “has every acknowledged entry once on every
 *   copy, with the same links”
 */
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

import type { LogBeginning, ReplicaFolder, ReplicaLog } from '../../log/replica.ts';
import { refuseBackup } from '../backup/description.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { readMeta, transact } from '../database.ts';
import { lockFile } from '../lock-file.ts';
import { refuseLoss } from '../writer/last-commit.ts';
import { RowReader } from '../log/row-reader.ts';
import {
  flushWal,
  openLogForReading,
  openLogForWriting,
  openLogIfExists,
  renameLog,
  rollBackJournal,
} from '../log/log-database.ts';
import { joinStream, leaveStream, readStreamPosition } from './stream-progress.ts';
import { lastWithheld } from '../withholding/withheld-table.ts';

export class SqliteReplicaFolder implements ReplicaFolder {
  readonly path: string;
  readonly #paths: DataPaths;

  constructor(folder: string) {
    this.path = folder;
    this.#paths = dataPathsIn(folder);
  }

  /** Throws where there is no log, where a gateway has it, and where it is a backup. */
  lock(): Disposable {
    if (!existsSync(this.#paths.log)) throw new Error('It has no log.');
    refuseBackup(this.path);
    const lock = lockFile(this.#paths.lock, 'A gateway is using it. Stop it first.');
    return { [Symbol.dispose]: () => lock.close() };
  }

  read(): ReplicaLog | undefined {
    rollBackJournal(this.#paths);
    using db = openLogIfExists(this.#paths);
    if (db === undefined) return undefined;
    const head = new RowReader(db).lastSeq();
    const position = readStreamPosition(db);
    if (position === undefined && head === 0) return undefined;
    if (position !== undefined && position.head !== head)
      throw new Error(
        `"${this.path}" has entries that its stream has not put in order. Start this gateway of the cluster with an empty folder, or with one that is restored from a backup of another gateway: presence restore BACKUP --data FOLDER --as-copy.`,
      );
    return { name: String(readMeta(db, 'name')), head, position };
  }

  /** Throws where it has none, or has lost some. */
  readEntries(): ReplicaLog {
    refuseLoss(this.#paths);
    const log = this.read();
    if (log === undefined) throw new Error('It has no entries.');
    return log;
  }

  beginning(): LogBeginning {
    using db = openLogForReading(this.#paths);
    const end = new RowReader(db);
    const head = end.lastSeq();
    return { head, link: end.linkAt(head) ?? '', withheld: lastWithheld(db) };
  }

  join(stream: string): void {
    this.#change((db) => joinStream(db, stream, new RowReader(db).lastSeq()));
  }

  /** Makes it a log of its own, under the same name or a new one. */
  leave({ keepsName }: { readonly keepsName: boolean }): void {
    this.#change((db) => {
      leaveStream(db);
      if (!keepsName) renameLog(db);
    });
  }

  #change(work: (db: DatabaseSync) => void): void {
    using db = openLogForWriting(this.#paths);
    flushWal(db);
    transact(db, () => work(db));
    flushWal(db);
  }
}
