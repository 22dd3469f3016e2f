/** Copies the files of large entries from one data folder to another. */
import {
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { copyFile, mkdir, open, opendir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { DataPaths } from '../data-paths.ts';
import { finalPath } from '../large/large-files.ts';
import { notRegular, plainFolder } from '../plain-file.ts';
import { flushFolder } from '../prepare-folder.ts';

export interface CopyTask {
  readonly source: DataPaths;
  readonly target: DataPaths;
  /** Whether files that the target has are replaced. */
  readonly all: boolean;
}

/** Copies a file if the target lacks it, or all, flushed and complete. Returns the bytes that were copied. */
export async function copyLarge(name: string, { source, target, all }: CopyTask): Promise<number> {
  // It may be lost.
  const [from, to] = [finalPath(source, name), finalPath(target, name)];
  if (!existsSync(from) || (!all && isSameSize(from, to))) return 0;
  await mkdir(dirname(to), { recursive: true });
  const unfinished = `${to}.part`;
  rmSync(unfinished, { force: true });
  let bytes: number;
  try {
    bytes = await copyFlushed(from, unfinished);
  } catch (error) {
    if (existsSync(from)) throw error;
    // It was withheld meanwhile.
    return 0;
  }
  await rename(unfinished, to);
  for (const folder of [dirname(to), target.large]) flushFolder(folder);
  return bytes;
}

/** Copies the notices that the target lacks, and removes the texts of those that were erased. */
export async function copyNotices(source: DataPaths, target: DataPaths): Promise<void> {
  if (!existsSync(source.notices)) return;
  if (!existsSync(target.notices)) mkdirSync(target.notices, { mode: 0o700 });
  plainFolder(target.folder, 'notices');
  for await (const { name } of await opendir(source.notices)) {
    const [from, to] = [join(source.notices, name), join(target.notices, name)];
    const isClosing = name.endsWith('.closed');
    if (isClosing) {
      const text = name.replace(/closed$/, 'json');
      if (!existsSync(join(source.notices, text)))
        rmSync(join(target.notices, text), { force: true });
    } else if (!name.endsWith('.json') || isSameSize(from, to)) continue;
    const unfinished = `${to}.new`;
    try {
      await copyFlushed(from, unfinished);
    } catch (error) {
      if (existsSync(from)) throw error;
      // It was erased meanwhile.
      continue;
    }
    await rename(unfinished, to);
  }
  flushFolder(target.notices);
}

/** Resolves with the size once it is flushed. Throws where it is not a regular file. */
export async function copyFlushed(from: string, to: string): Promise<number> {
  if (!lstatSync(from).isFile()) throw notRegular(from);
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await using handle = await open(to, 'r+');
  await handle.sync();
  return (await handle.stat()).size;
}

function isSameSize(from: string, to: string): boolean {
  const found = lstatSync(to, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === statSync(from, { throwIfNoEntry: false })?.size;
}

/** Throws if a folder of large files is something else, such as a link that leads elsewhere. */
export function assertPlainFolders({ folder, large }: DataPaths): void {
  if (lstatSync(large, { throwIfNoEntry: false }) === undefined) return;
  for (const name of readdirSync(plainFolder(folder, 'large'))) plainFolder(folder, 'large', name);
}
