/**
 * Makes a data folder of a backup. The log is made and verified in a folder of its own, and then takes
 * its place. What was there is moved aside, never removed.
 *
 * The file `last-commit` of the restored log comes first, and the log itself last: a start in between
 * finds that the log is missing, and refuses to serve.
 */
import { constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';

import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { lockFile } from '../lock-file.ts';
import { openLogForReading, rollBackJournal } from '../log/log-database.ts';
import { verifyLog, type VerifyEvent } from '../repair/verify.ts';
import { plainDatabase, plainFile } from '../plain-file.ts';
import { flushFolder, makeFolder } from '../prepare-folder.ts';
import { beginLog } from './begin-log.ts';
import { assertPlainFolders, FileCopier, largeNames } from './copy-files.ts';
import {
  type BackupDescription,
  readDescription,
  unfinishedReason,
  writeDescription,
} from './description.ts';
import { verifyFolder } from './verify-backup.ts';

export interface RestoreOptions {
  /** Whether what the folder has may be moved aside. */
  readonly replace?: boolean | undefined;
  /** Whether a backup is restored that has faults, has changed, or was interrupted. */
  readonly acceptFaults?: boolean | undefined;
  /** Whether the log keeps its name, which is right only if it never had a later entry. */
  readonly keepName?: boolean | undefined;
  /**
   * Whether it goes on as a copy of the cluster's log that was backed up, under its name: its gateway reads
   * on in the stream. Such a copy may have no faults.
   */
  readonly asCopy?: boolean | undefined;
}

export interface RestoreReport extends BackupDescription {
  /** The folder of the backup. */
  readonly backup: string;
  /** The name of the restored log. */
  readonly name: string;
  /** Where the earlier files of the folder are now, if there were any. */
  readonly replaced: string | undefined;
}

/** Thrown where the operator has to allow what a restore would do. Nothing has been changed. */
export class RestoreRefusal extends Error {}

const UNFINISHED = 'restoring';

/**
 * Yields the progress of verifying, and the faults. Throws when a gateway has the folder, when there is no
 * backup that can be read, and when it is not what was backed up.
 */
export async function* restoreLog(
  backup: string,
  data: string,
  options: RestoreOptions = {},
): AsyncGenerator<VerifyEvent, RestoreReport, undefined> {
  const source = dataPathsIn(resolve(backup));
  const description = readDescription(source);
  if (description === undefined) throw new Error(`there is no backup in "${backup}"`);
  refuse(source, description, options);
  const target = dataPathsIn(resolve(data));
  makeFolder(target.folder);
  using _lock = lockFile(target.lock, `a gateway is using "${data}". Stop it first.`);
  const existing = existingFiles(target);
  if (existing.length > 0 && options.replace !== true)
    throw new RestoreRefusal(
      `"${data}" has a log. With --replace, its files are moved to a folder in it.`,
    );
  const made = dataPathsIn(join(target.folder, UNFINISHED));
  await rm(made.folder, { recursive: true, force: true });
  try {
    await copyBackup(source, made, description);
    const faults = yield* verifyMade(made, description);
    if (faults > 0 && options.acceptFaults !== true)
      throw new Error('it is not what was backed up. Nothing has been changed');
    const { asCopy: isCopy = false, keepName = isCopy } = options;
    const name = beginLog(made, { keepName, isCopy });
    const replaced = await takePlace(made, target, existing);
    return { ...description, faults, backup: source.folder, name, replaced };
  } finally {
    await rm(made.folder, { recursive: true, force: true });
  }
}

/** Throws where the operator has to allow what the backup is. */
function refuse(
  source: DataPaths,
  description: BackupDescription,
  { asCopy = false, acceptFaults = false }: RestoreOptions,
): void {
  const { faults, isCopy } = description;
  const unfinished = unfinishedReason(source, description);
  const state =
    unfinished ?? (faults > 0 ? `in "${source.folder}", ${faults} entries have faults.` : '');
  if (asCopy && !isCopy)
    throw new RestoreRefusal(
      `"${source.folder}" does not say where a copy of a cluster's log stood in its stream: the log was no such copy, or that could not be read. Without --as-copy, it becomes a log of its own.`,
    );
  if (asCopy && state !== '')
    throw new RestoreRefusal(
      `${state} A copy must not have any: restore a backup that was made from another gateway.`,
    );
  if (state !== '' && !acceptFaults)
    throw new RestoreRefusal(`${state} Restore what is there with --accept-faults.`);
}

/** All files of the log, and those derived from it. */
function existingFiles({
  folder,
  log,
  lastCommit,
  backup,
  keys,
  segments,
  large,
}: DataPaths): string[] {
  const own = [log, lastCommit, backup, keys, segments, large].map((path) => basename(path));
  const isOwn = (name: string): boolean =>
    own.some((file) => name === file || name.startsWith(`${file}-`));
  return readdirSync(folder)
    .filter((name) => isOwn(name))
    .map((name) => join(folder, name));
}

/** Resolves when everything is flushed. */
async function copyBackup(
  source: DataPaths,
  made: DataPaths,
  description: BackupDescription,
): Promise<void> {
  mkdirSync(made.incoming, { recursive: true });
  const log = plainDatabase(source.folder, basename(source.log));
  assertPlainFolders(source);
  // An interrupted transaction is rolled back in the copy.
  const journal = description.sha256 === undefined ? [`${basename(log)}-journal`] : [];
  for (const file of [basename(source.lastCommit), ...journal, basename(log)]) {
    if (!existsSync(join(source.folder, file))) continue;
    const to = join(made.folder, file);
    await copyFile(plainFile(source.folder, file), to, constants.COPYFILE_FICLONE);
    await using handle = await open(to, 'r+');
    await handle.sync();
  }
  rollBackJournal(made);
  const files = new FileCopier({ source, target: made, isForeign: true });
  using db = openLogForReading(made);
  for (const name of largeNames(db, 0)) await files.copy(name, true);
  files.flush();
}

/** Returns how many faults there are. */
async function* verifyMade(
  made: DataPaths,
  description: BackupDescription,
): AsyncGenerator<VerifyEvent, number> {
  if (description.sha256 === undefined) return (yield* verifyLog(made.folder)).faults;
  await writeDescription(made, description);
  return (yield* verifyFolder(made.folder)).faults;
}

/** Returns the folder with the files that were there. */
async function takePlace(
  made: DataPaths,
  target: DataPaths,
  existing: readonly string[],
): Promise<string | undefined> {
  const time = new Date().toISOString().replaceAll(':', '-');
  const replaced = existing.length === 0 ? undefined : join(target.folder, `replaced-${time}`);
  if (replaced !== undefined) {
    await mkdir(replaced);
    const old = existing.filter((path) => path !== target.lastCommit);
    if (existsSync(target.lastCommit))
      await rename(target.lastCommit, join(replaced, basename(target.lastCommit)));
    if (existsSync(made.lastCommit)) await rename(made.lastCommit, target.lastCommit);
    flushFolder(target.folder);
    for (const path of old) await rename(path, join(replaced, basename(path)));
    flushFolder(replaced);
  } else if (existsSync(made.lastCommit)) await rename(made.lastCommit, target.lastCommit);
  flushFolder(target.folder);
  await rename(made.large, target.large);
  flushFolder(target.folder);
  await rename(made.log, target.log);
  flushFolder(target.folder);
  return replaced;
}
