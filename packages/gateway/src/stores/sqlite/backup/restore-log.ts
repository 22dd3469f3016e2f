/**
 * Makes a data folder of a backup, which is copied and verified in a folder of its own, and then takes its
 * place. What was there is moved aside, never removed. Meanwhile the data folder has the description of a
 * backup that does not count: a start in between refuses to serve.
 */
import { copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';

import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { lockFile } from '../lock-file.ts';
import { rollBackJournal } from '../log/log-database.ts';
import { flushFolder, makeFolder } from '../prepare-folder.ts';
import { verifyLog, type VerifyEvent } from '../log/verify.ts';
import { writeChecked } from '../checked-file.ts';
import { copyFlushed } from './copy-files.ts';
import {
  type BackupDescription,
  beginLog,
  readComplete,
  readDescription,
  readUsable,
} from './description.ts';

export interface RestoreOptions {
  /** Whether what the folder has may be moved aside. */
  readonly replace?: boolean | undefined;
  /** Whether a backup is restored that has faults, has changed, or was interrupted. */
  readonly acceptFaults?: boolean | undefined;
  /** Whether the log keeps its name. That is right only if the original never had a later entry. */
  readonly keepName?: boolean | undefined;
  /** Whether it goes on as the copy of a cluster's log that was backed up. Then faults are refused. */
  readonly asCopy?: boolean | undefined;
}

export interface RestoreReport extends BackupDescription {
  readonly backup: string;
  readonly name: string;
  /** Where the earlier files of the folder are now, if there were any. */
  readonly replaced: string | undefined;
}

/** Thrown if the operator has to allow what the restore would do. Nothing has been changed. */
export class RestoreRefusal extends Error {}

/** Yields faults and progress. Throws if a gateway uses the folder, or the backup is not what was written. */
export async function* restoreLog(
  backup: string,
  data: string,
  options: RestoreOptions = {},
): AsyncGenerator<VerifyEvent, RestoreReport, undefined> {
  const { replace = false, acceptFaults = false, asCopy = false, keepName = asCopy } = options;
  const source = dataPathsIn(resolve(backup));
  const description = readDescription(source);
  if (description === undefined)
    throw new Error(
      `there is no backup in "${backup}". A copy of a data folder needs no restoring: serve it with --data`,
    );
  if (asCopy) readUsable(source, asCopy);
  else if (!acceptFaults) refuseFaults(source);
  const target = dataPathsIn(resolve(data));
  makeFolder(target.folder);
  using _lock = lockFile(target.lock, `a gateway is using "${data}". Stop it first.`);
  const existing = existingFiles(target);
  if (existing.length > 0 && !replace)
    throw new RestoreRefusal(
      `"${data}" has a log. With --replace, its files are moved to a folder in it.`,
    );
  const made = dataPathsIn(target.restoring);
  await rm(made.folder, { recursive: true, force: true });
  try {
    mkdirSync(made.folder);
    const journal = `${basename(source.log)}-journal`;
    const isComplete = description.sha256 !== undefined;
    for (const name of ['log.sqlite', isComplete ? 'backup.json' : journal, 'large', 'notices'])
      if (lstatSync(join(source.folder, name), { throwIfNoEntry: false }))
        await copyFlat(join(source.folder, name), join(made.folder, name));
    // An interrupted transaction is rolled back in the copy.
    rollBackJournal(made);
    const { faults } = yield* verifyLog(made.folder);
    if (faults > 0 && !acceptFaults)
      throw new Error('it is not what was backed up. Nothing has been changed');
    const name = beginLog(made, { keepName, isCopy: asCopy });
    const replaced = await takePlace(made, target, { existing, description });
    return { ...description, faults, backup: source.folder, name, replaced };
  } finally {
    await rm(made.folder, { recursive: true, force: true });
  }
}

function refuseFaults(source: DataPaths): void {
  try {
    const faults = readComplete(source)?.faults ?? 0;
    if (faults > 0) throw new Error(`in "${source.folder}", ${faults} entries have faults`);
  } catch (error) {
    throw new RestoreRefusal(
      `${error instanceof Error ? error.message : String(error)} Restore what is there with --accept-faults.`,
    );
  }
}

/** All files of the log, and those derived from it. */
function existingFiles(paths: DataPaths): string[] {
  const { folder, log, lastCommit, backup, keys, index, large, notices } = paths;
  const own = [log, lastCommit, backup, keys, index, large, notices].map((path) => basename(path));
  const isOwn = (name: string): boolean =>
    own.some((file) => name === file || name.startsWith(`${file}-`));
  return readdirSync(folder).filter((name) => isOwn(name));
}

/** Copies a file, or a folder without its uploads. Follows no link: the backup may come from somebody else. */
async function copyFlat(from: string, to: string): Promise<void> {
  if (!lstatSync(from).isDirectory()) {
    await copyFlushed(from, to);
    return;
  }
  mkdirSync(to);
  for (const name of readdirSync(from)) await copyFlat(join(from, name), join(to, name));
  flushFolder(to);
}

interface Replacement {
  readonly existing: readonly string[];
  readonly description: BackupDescription;
}

async function takePlace(
  made: DataPaths,
  target: DataPaths,
  { existing, description }: Replacement,
): Promise<string | undefined> {
  const time = new Date().toISOString().replaceAll(':', '-');
  const replaced = existing.length === 0 ? undefined : join(target.folder, `replaced-${time}`);
  if (replaced !== undefined) await mkdir(replaced);
  if (replaced !== undefined && existsSync(target.backup))
    copyFileSync(target.backup, join(replaced, basename(target.backup)));
  writeChecked(target.backup, { ...description, sha256: undefined });
  if (replaced !== undefined) {
    for (const name of existing)
      if (name !== basename(target.backup))
        await rename(join(target.folder, name), join(replaced, name));
    flushFolder(replaced);
  }
  for (const name of readdirSync(made.folder))
    await rename(join(made.folder, name), join(target.folder, name));
  flushFolder(target.folder);
  await rm(target.backup);
  flushFolder(target.folder);
  return replaced;
}
