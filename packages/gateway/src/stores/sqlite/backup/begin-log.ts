/** Makes of a backup what a gateway is started on. */
import { rmSync } from 'node:fs';

import type { DataPaths } from '../data-paths.ts';
import { readable, readMeta } from '../database.ts';
import { RowReader } from '../log/row-reader.ts';
import { LastCommitFile } from '../writer/last-commit.ts';
import { openLogForWriting, renameLog } from '../log/log-database.ts';
import { leaveStream } from '../replica/stream-progress.ts';
import { flushFolder } from '../prepare-folder.ts';
import { removeDigests } from './copy-files.ts';
import { type BackupDescription, readDescription, unfinishedReason } from './description.ts';

interface LogUse {
  /** Without it, the log gets a new name, by which readers notice that later entries may be gone. */
  readonly keepName: boolean;
  /** Whether it goes on as a copy of a cluster's log. */
  readonly isCopy: boolean;
}

/**
 * Undefined where the folder is no backup. Throws where a gateway cannot go on from it: it does not count, or
 * is to be a copy of a cluster's log and has faults.
 */
export function readBegunBackup(paths: DataPaths, isCopy: boolean): BackupDescription | undefined {
  const description = readDescription(paths);
  if (description === undefined) return undefined;
  const reason = unfinishedReason(paths, description);
  if (reason !== undefined)
    throw new Error(`${reason} To go on without the next one: presence restore --accept-faults.`);
  if (isCopy && (!description.isCopy || description.faults > 0))
    throw new Error(
      `"${paths.folder}" is a backup that cannot become a copy of a cluster's log: it ${description.isCopy ? 'has faults' : 'is not of one'}.`,
    );
  return description;
}

/** Throws where the folder is a backup, which only a gateway that is started on it may change. */
export function refuseBackup(paths: DataPaths): void {
  if (readDescription(paths) !== undefined)
    throw new Error(
      `"${paths.folder}" is a backup. Restore it into another folder, or start a gateway on it, before its log is changed.`,
    );
}

/**
 * Makes a log of its own of a backup, or a copy of a cluster's. Returns its name. What is interrupted is done
 * again by the next call: the folder is no backup any more once the file that says so is gone.
 */
export function beginLog(paths: DataPaths, { keepName, isCopy }: LogUse): string {
  // It has the former name.
  rmSync(paths.lastCommit, { force: true });
  flushFolder(paths.folder);
  const db = openLogForWriting(paths);
  try {
    db.exec('BEGIN IMMEDIATE');
    removeDigests(db);
    if (!isCopy) leaveStream(db);
    if (!keepName) renameLog(db);
    db.exec('COMMIT');
    const name = String(readMeta(db, 'name'));
    const last = readable(() => new RowReader(db).last());
    using lastCommit = new LastCommitFile(paths, name);
    if (last !== undefined) lastCommit.write(last.seq, last.link);
    rmSync(paths.backup, { force: true });
    flushFolder(paths.folder);
    return name;
  } finally {
    db.close();
  }
}
