import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs';
import { platform } from 'node:os';
import { dirname } from 'node:path';

import type { DataPaths } from './data-paths.ts';

const { R_OK, W_OK, X_OK } = constants;

/** Creates the folder if it is missing. Throws the system's error, which names path and reason, if it cannot be used. */
export function prepareFolder({ folder, ...paths }: DataPaths): void {
  makeFolder(folder);
  readdirSync(folder);
  accessSync(folder, R_OK | W_OK | X_OK);
  for (const path of Object.values(paths)) if (existsSync(path)) accessSync(path, R_OK | W_OK);
}

/** Flushes the log's folders and their parents: otherwise a power cut could take the whole data folder. */
export function flushFolders({ large }: DataPaths): void {
  const { dev } = statSync(large);
  for (let path = large; statSync(path).dev === dev; path = dirname(path)) {
    flushFolder(path);
    if (path === dirname(path)) return;
  }
}

export function flushFolder(path: string): void {
  // Windows cannot flush a folder: NTFS writes its changes to a journal of its own.
  if (platform() === 'win32') return;
  let handle: number | undefined;
  try {
    handle = openSync(path, 'r');
    fsyncSync(handle);
  } catch (error) {
    // Skips a folder that may not be read: this gateway did not make it. Some file systems flush no folder.
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code !== 'EACCES' && error.code !== 'EINVAL') throw error;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Creates the parents as well. Node's `recursive` never returns where that fails, as in `/proc`. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  mkdirSync(path);
}
