/**
 * The file `backup.json`, by which a folder is a backup. It describes what the backup has, and covers by a
 * checksum what no link covers. It is written when a backup begins, without that checksum, and again when
 * the backup is complete.
 */
import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { basename } from 'node:path';

import type { Seq } from '../../../log/log.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { readMeta, transact } from '../database.ts';
import { openLogForWriting, renameLog } from '../log/log-database.ts';
import { openRegular, plainFile } from '../plain-file.ts';
import { flushFolder } from '../prepare-folder.ts';
import { leaveStream } from '../replica/stream-progress.ts';
import { readChecked } from '../checked-file.ts';

export interface BackupDescription {
  readonly log: string;
  readonly head: Seq;
  /** The link of that entry, in hex; undefined if it cannot be read. */
  readonly link?: string | undefined;
  /** RFC 3339, of the newest entry; undefined without one that can be read. */
  readonly timestamp?: string | undefined;
  readonly entries: number;
  readonly bytes: number;
  /** How many entries have changed, are lost, or cannot be read. */
  readonly faults: number;
  /** Whether the log is a copy of a cluster's, and can be restored as one. */
  readonly isCopy: boolean;
  /** RFC 3339, of when the backup began. */
  readonly made: string;
  /** SHA-256 of `log.sqlite`, in hex. Undefined while the backup is being made. */
  readonly sha256?: string | undefined;
}

/** Printable characters only: anyone can make a backup, and these values are printed to a terminal. */
const PRINTABLE = /^[\w:.+-]*$/;

/** Undefined where the folder is no backup. Throws where the file is not what was written. */
export function readDescription(paths: DataPaths): BackupDescription | undefined {
  if (!existsSync(paths.backup)) return undefined;
  const description = readChecked(plainFile(paths.folder, basename(paths.backup)));
  if (!isDescription(description)) throw new Error(`"${paths.backup}" is not what was written.`);
  return description;
}

function isDescription(value: unknown): value is BackupDescription {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && Object.values(value).every((member) => PRINTABLE.test(String(member)));
}

/** The description of a complete backup. Throws if the backup is unfinished. */
export function readComplete(paths: DataPaths): BackupDescription | undefined {
  const description = readDescription(paths);
  if (description === undefined || description.sha256 !== undefined) return description;
  const { head, timestamp = 'no entry' } = description;
  throw new Error(
    `a backup is being made in "${paths.folder}", or was interrupted. The next one goes on with it. It has at least what the backup before had, up to entry ${head} (${timestamp}). Without the next one, presence restore --accept-faults takes what is there.`,
  );
}

/** The description of a complete backup. Throws if the log must become a copy of a cluster's log and cannot. */
export function readUsable(paths: DataPaths, isCopy: boolean): BackupDescription | undefined {
  const description = readComplete(paths);
  if (isCopy && description !== undefined && (!description.isCopy || description.faults > 0))
    throw new Error(
      `"${paths.folder}" is a backup that cannot become a copy of a cluster's log: it ${description.isCopy ? 'has faults' : 'does not say where such a copy stood in its stream'}.`,
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

/** Throws if a restore into a folder without a log was killed: a start would begin a log there. */
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

/**
 * Turns a backup into a log that a gateway can start on. Returns the log's name. Can be repeated after an
 * interruption.
 */
export function beginLog(paths: DataPaths, { keepName, isCopy }: BegunLog): string {
  using db = openLogForWriting(paths);
  transact(db, () => {
    if (!isCopy) leaveStream(db);
    if (!keepName) renameLog(db);
  });
  rmSync(paths.backup, { force: true });
  flushFolder(paths.folder);
  return String(readMeta(db, 'name'));
}

export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await using handle = await openRegular(file);
  for await (const chunk of handle.createReadStream({ autoClose: false, highWaterMark: 2 ** 20 }))
    hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
