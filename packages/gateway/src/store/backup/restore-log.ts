/**
 * Makes a data folder of a backup, which is copied and verified in a folder of its own, and then takes its place: the
 * log comes last. What was there is moved aside, never removed.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';

import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { lockFile } from '../lock-file.ts';
import { verifyLog, type VerifyEvent } from '../log/verify.ts';
import { flushFolder, makeFolder } from '../prepare-folder.ts';
import { assertPlain, copyFlushed } from './copy-file.ts';
import { type BackupDescription, beginLog, readUsable } from './description.ts';

export interface RestoreOptions {
  /** Whether what the folder has may be moved aside. */
  readonly replace?: boolean | undefined;
  /** Whether a backup is restored that has faults. */
  readonly acceptFaults?: boolean | undefined;
  /** Whether the log keeps its name. That is right only if the original never had a later entry. */
  readonly keepName?: boolean | undefined;
  /** Whether it goes on as the copy of a cluster's log that was backed up. Then faults are refused. */
  readonly asCopy?: boolean | undefined;
}

export interface RestoreReport extends BackupDescription {
  readonly backup: string;
  readonly name: string;
  readonly faults: number;
  /** Where the earlier files of the folder are now, if there were any. */
  readonly replaced: string | undefined;
}

/** Thrown if the operator has to allow what the restore would do. Nothing has been changed. */
export class RestoreRefusal extends Error {}

/** Yields faults and progress. Throws if a gateway uses the folder, or there is no backup. */
export async function* restoreLog(
  backup: string,
  data: string,
  options: RestoreOptions = {},
): AsyncGenerator<VerifyEvent, RestoreReport, undefined> {
  const { replace = false, acceptFaults = false, asCopy = false, keepName = asCopy } = options;
  const source = dataPathsIn(resolve(backup));
  if (existsSync(source.log)) assertPlain(source.log, 'file');
  const description = readUsable(source, asCopy);
  if (description === undefined)
    throw new Error(
      `there is no backup in "${backup}". A copy of a data folder needs no restoring: serve it with --data`,
    );
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
    for (const path of ownPaths(source))
      if (lstatSync(path, { throwIfNoEntry: false }))
        await copyAll(path, join(made.folder, basename(path)));
    const name = beginLog(made, { keepName, isCopy: asCopy });
    const { faults } = yield* verifyLog(made.folder);
    if (faults > 0 && (asCopy || !acceptFaults))
      throw new RestoreRefusal(
        `it has faults: ${faults}. Nothing has been changed. Restore an older backup, or what is there of this one with --accept-faults.`,
      );
    const replaced = await takePlace(made, target, existing);
    return { ...description, backup: source.folder, name, faults, replaced };
  } finally {
    await rm(made.folder, { recursive: true, force: true });
  }
}

/** What is copied, in the order in which it takes its place. */
function ownPaths({ large, notices, log }: DataPaths): readonly string[] {
  return [large, notices, log];
}

/** All files of the log, and those derived from it. */
function existingFiles(paths: DataPaths): string[] {
  const { folder, lastCommit, backup, index } = paths;
  const own = [...ownPaths(paths), lastCommit, backup, index].map((path) => basename(path));
  const isOwn = (name: string): boolean =>
    own.some((file) => name === file || name.startsWith(`${file}-`));
  return readdirSync(folder).filter((name) => isOwn(name));
}

/** Copies a file, or a folder with all that is in it. */
async function copyAll(from: string, to: string): Promise<void> {
  if (!lstatSync(from).isDirectory()) {
    await copyFlushed(from, to);
    return;
  }
  mkdirSync(to);
  for (const name of readdirSync(from)) await copyAll(join(from, name), join(to, name));
  flushFolder(to);
}

/** Returns where the existing files are then. */
async function takePlace(
  made: DataPaths,
  target: DataPaths,
  existing: readonly string[],
): Promise<string | undefined> {
  const time = new Date().toISOString().replaceAll(':', '-');
  const replaced = existing.length === 0 ? undefined : join(target.folder, `replaced-${time}`);
  if (replaced !== undefined) {
    await mkdir(replaced);
    for (const name of existing) await rename(join(target.folder, name), join(replaced, name));
    flushFolder(replaced);
  }
  for (const path of ownPaths(made)) {
    if (existsSync(path)) await rename(path, join(target.folder, basename(path)));
    flushFolder(target.folder);
  }
  return replaced;
}
