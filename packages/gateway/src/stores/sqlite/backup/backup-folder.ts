/** The files of a folder with backups. */
import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface BackupPaths {
  readonly folder: string;
  /** Held while a backup is made. */
  readonly lock: string;
  /** A folder for each segment: consecutive entries, which all backups share that need them. */
  readonly segments: string;
}

export const SEGMENTS = 'segments';
/** Of the file that says what a backup is made of. Its name is the time when the backup began. */
const SUFFIX = '.backup';
const UNFINISHED_SUFFIX = '.unfinished';
const NAME = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.backup$/;

export function backupPathsIn(folder: string): BackupPaths {
  return { folder, lock: join(folder, 'lock.sqlite'), segments: join(folder, SEGMENTS) };
}

/** The complete backups in a folder, oldest first. */
export function backupFiles(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => NAME.test(name));
  return names.toSorted().map((name) => join(folder, name));
}

/** The newest backup in a folder, or the file itself. Throws where there is none. */
export function findBackup(path: string): string {
  const file = statSync(path).isDirectory() ? backupFiles(path).at(-1) : path;
  if (file === undefined) throw new Error(`there is no backup in "${path}"`);
  return file;
}

/** The name of a new backup, which is behind those that are there even if the clock was set back. */
export function nameBackup(existing: readonly string[], now: number): string {
  const newest = existing.at(-1);
  const earliest = newest === undefined ? 0 : timeOfBackup(newest) + 1;
  const time = new Date(Math.max(now, earliest)).toISOString();
  return time.replaceAll(':', '-') + SUFFIX;
}

/** When the backup began, in ms since 1970. */
export function timeOfBackup(file: string): number {
  const [, hour, minute, second] = NAME.exec(basename(file)) ?? [];
  return Date.parse(`${hour}:${minute}:${second}`);
}

/** The name of the file until it is complete. */
export function unfinished(file: string): string {
  return file + UNFINISHED_SUFFIX;
}

export function isUnfinished(file: string): boolean {
  return file.endsWith(UNFINISHED_SUFFIX);
}
