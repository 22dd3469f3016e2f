/**
 * Makes a data folder of a backup. The log is made and verified in a folder of its own, and then takes
 * its place. What was there is moved aside, never removed.
 *
 * The file `last-commit` of the restored log comes first, and the log itself last: a start in between
 * finds that the log is missing, and refuses to serve.
 */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { SUMS_SUFFIX } from '../database.ts';
import { lockFile } from '../lock-file.ts';
import { LastCommitFile } from '../log/last-commit.ts';
import { verifyLog, type VerifyEvent } from '../log/verify.ts';
import { flushFolder, makeFolder } from '../prepare-folder.ts';
import { backupPathsIn, findBackup } from './backup-folder.ts';
import { makeLog } from './make-log.ts';
import { type BackupDescription, readManifest } from './manifest.ts';

export interface RestoreOptions {
  /** Whether what the folder has may be moved aside. */
  readonly replace?: boolean | undefined;
  /** Whether a backup is restored in which entries have faults. */
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
  /** The file of the backup. */
  readonly file: string;
  /** The name of the restored log. */
  readonly name: string;
  /** Where the earlier files of the folder are now, if there were any. */
  readonly replaced: string | undefined;
}

/** Thrown where the operator has to allow what a restore would do. Nothing has been changed. */
export class RestoreRefusal extends Error {}

const UNFINISHED = 'restoring';

/**
 * `backup`: the file of a backup, or a folder with backups, of which the newest is restored. Yields the
 * progress, of copying and then of verifying, and the faults of entries. Throws when a gateway has the
 * folder, and when the backup cannot be read or has other faults than when it was made.
 */
export async function* restoreLog(
  backup: string,
  data: string,
  options: RestoreOptions = {},
): AsyncGenerator<VerifyEvent, RestoreReport, undefined> {
  const file = findBackup(resolve(backup));
  const manifest = await readManifest(file);
  const { segments: _, stream, ...description } = manifest;
  const { asCopy = false } = options;
  if (asCopy && stream === undefined)
    throw new RestoreRefusal(
      `"${file}" does not say where a copy of a cluster's log stood in its stream: the log was no such copy, or that could not be read. Without --as-copy, it becomes a log of its own.`,
    );
  if (asCopy && manifest.faults > 0)
    throw new RestoreRefusal(
      `in "${file}", ${manifest.faults} entries have faults, which a copy must not have. Restore an earlier backup, or one that was made from another gateway.`,
    );
  if (manifest.faults > 0 && options.acceptFaults !== true)
    throw new RestoreRefusal(
      `in "${file}", ${manifest.faults} entries have faults. Restore it as it is with --accept-faults, or an earlier one.`,
    );
  const target = dataPathsIn(resolve(data));
  makeFolder(target.folder);
  using _lock = lockFile(target.lock, `a gateway is using "${data}". Stop it first.`);
  const existing = filesOf(target).filter((path) => existsSync(path));
  if (existing.length > 0 && options.replace !== true)
    throw new RestoreRefusal(
      `"${data}" has a log. With --replace, its files are moved to a folder in it.`,
    );
  const made = dataPathsIn(join(target.folder, UNFINISHED));
  await rm(made.folder, { recursive: true, force: true });
  try {
    const backups = backupPathsIn(dirname(file));
    const keepName = options.keepName === true || asCopy;
    const task = { backups, manifest, keepName, stream: asCopy ? stream : undefined };
    yield* makeLog(made, task);
    const name = yield* verifyMade(made, description);
    const replaced = await takePlace(made, target, existing);
    return { ...description, file, name, replaced };
  } finally {
    await rm(made.folder, { recursive: true, force: true });
  }
}

/** All files of the log, and those derived from it. */
function filesOf({ log, lastCommit, index, search, runs, large }: DataPaths): string[] {
  const databases = [log, index, search].flatMap((file) =>
    ['', '-wal', '-shm', SUMS_SUFFIX].map((suffix) => file + suffix),
  );
  return [...databases, runs, large, lastCommit];
}

/** Returns the name of the log, and writes its `last-commit`. */
async function* verifyMade(
  made: DataPaths,
  { head, link, faults }: BackupDescription,
): AsyncGenerator<VerifyEvent, string> {
  const { name, ...found } = yield* verifyLog(made.folder);
  if (found.faults !== faults || (link !== undefined && head > 0 && found.link !== link))
    throw new Error('it is not what was backed up. Nothing has been changed: restore another one');
  for (const suffix of ['-wal', '-shm']) await rm(made.log + suffix, { force: true });
  using lastCommit = new LastCommitFile(made, name);
  if (link !== undefined && head > 0) lastCommit.write(head, Buffer.from(link, 'hex'));
  return name;
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
