/** Removes backups that are not kept, and segments that no backup needs. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { plainFolder } from '../plain-file.ts';
import { flushFolder } from '../prepare-folder.ts';
import { backupFiles, type BackupPaths, isUnfinished, SEGMENTS } from './backup-folder.ts';
import { readManifest } from './manifest.ts';
import { retained, type Retention } from './retention.ts';

/**
 * Returns the backups that were removed. The newest one stays, and so does the newest one without
 * faults.
 */
export async function thinBackups(paths: BackupPaths, retention: Retention): Promise<string[]> {
  const files = backupFiles(paths.folder);
  const kept = retained(files, retention);
  for (const file of [files.at(-1), await newestWithoutFaults(files)])
    if (file !== undefined) kept.add(file);
  const removed = files.filter((file) => !kept.has(file));
  for (const file of removed) await rm(file);
  flushFolder(paths.folder);
  return removed;
}

async function newestWithoutFaults(files: readonly string[]): Promise<string | undefined> {
  for (const file of files.toReversed()) if ((await readManifest(file)).faults === 0) return file;
  return undefined;
}

/**
 * Also what a backup has left that was interrupted. Throws, before it removes anything, where the file
 * of a backup cannot be read: it is unknown then which segments it needs.
 */
export async function removeUnused(paths: BackupPaths): Promise<void> {
  plainFolder(paths.folder, SEGMENTS);
  const used = new Set<string>();
  for (const file of backupFiles(paths.folder)) {
    const { segments, stream } = await readManifest(file);
    for (const { name } of segments) used.add(name);
    if (stream !== undefined) used.add(stream.name);
  }
  for (const name of await readdir(paths.folder))
    if (isUnfinished(name)) await rm(join(paths.folder, name), { force: true });
  for (const name of await readdir(paths.segments))
    if (!used.has(name)) await rm(join(paths.segments, name), { recursive: true, force: true });
}
