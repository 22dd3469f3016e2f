/** What makes a data folder a backup: a row of its log, which goes when a gateway starts on it. */
import { existsSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../log/log.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { readable, readMeta, transact } from '../database.ts';
import { flushWal, openLogForWriting, openLogIfExists, renameLog } from '../log/log-database.ts';
import { RowReader } from '../log/row-reader.ts';
import { flushFolder } from '../prepare-folder.ts';
import { leaveStream, readStreamPosition } from '../replica/stream-progress.ts';

export interface BackupDescription {
  readonly log: string;
  readonly head: Seq;
  /** RFC 3339, of the newest entry; undefined without one that can be read. */
  readonly timestamp: string | undefined;
  /** RFC 3339, of when the backup began. */
  readonly made: string;
  /** Whether the log is a copy of a cluster's, and can be restored as one. */
  readonly isCopy: boolean;
}

/** Undefined where the folder is no backup. */
function readDescription(paths: DataPaths): BackupDescription | undefined {
  using db = openLogIfExists(paths);
  const made = db && readMade(db, paths);
  return db && made === undefined ? undefined : db && describe(db, Number(made));
}

/** When it was begun, in ms since 1970. Undefined where the folder is no backup. */
export function readMade(db: DatabaseSync, { backup }: DataPaths): number | undefined {
  const made = readMeta(db, 'backup');
  if (made !== undefined) return Number(made);
  // A backup of version 0.2.
  return statSync(backup, { throwIfNoEntry: false })?.mtimeMs;
}

export function describe(db: DatabaseSync, made: number): BackupDescription {
  const log = String(readMeta(db, 'name'));
  // Anyone can make a backup, and the name is printed to a terminal.
  if (!/^[\w-]+$/.test(log)) throw new Error('the name of its log is not what was written');
  const rows = new RowReader(db);
  const time = readable(() => rows.last()?.time);
  return {
    log,
    head: rows.lastSeq(),
    timestamp: time === undefined ? undefined : new Date(time).toISOString(),
    made: new Date(made).toISOString(),
    isCopy: readStreamPosition(db) !== undefined,
  };
}

/** The same. Throws if the log must become a copy of a cluster's log and cannot. */
export function readUsable(paths: DataPaths, isCopy: boolean): BackupDescription | undefined {
  const description = readDescription(paths);
  if (isCopy && description?.isCopy === false)
    throw new Error(
      `"${paths.folder}" is a backup that cannot become a copy of a cluster's log: it is none of such a copy.`,
    );
  return description;
}

/** Throws if the folder is a backup: only a gateway that starts on it may change it. */
export function refuseBackup(folder: string): void {
  if (readDescription(dataPathsIn(folder)) !== undefined)
    throw new Error(
      `"${folder}" is a backup. Restore it into another folder, or start a gateway on it, before its log is changed.`,
    );
}

/** Throws if a restore into the folder was killed before it had its log: a start would begin another log there. */
export function refuseUnrestored({ folder, log, restoring }: DataPaths): void {
  if (existsSync(restoring) && !existsSync(log))
    throw new Error(
      `A restore into "${folder}" was interrupted. Repeat it, or remove "${restoring}" to begin without it.`,
    );
}

interface BegunLog {
  /** Without it, readers notice by the new name that later entries may be gone. */
  readonly keepName: boolean;
  /** Whether it goes on as a copy of a cluster's log. */
  readonly isCopy: boolean;
}

/** Makes a backup a log that a gateway can start on. Returns the log's name. */
export function beginLog(paths: DataPaths, { keepName, isCopy }: BegunLog): string {
  using db = openLogForWriting(paths);
  transact(db, () => {
    if (!isCopy) leaveStream(db);
    if (!keepName) renameLog(db);
    db.exec("DELETE FROM meta WHERE name = 'backup'");
  });
  flushWal(db);
  rmSync(paths.backup, { force: true });
  flushFolder(paths.folder);
  return String(readMeta(db, 'name'));
}
