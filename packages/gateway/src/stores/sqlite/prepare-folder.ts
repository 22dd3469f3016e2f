import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';

import type { DataPaths } from './data-paths.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Creates the data folder if it does not exist. Throws the error of the system, which names the path
 * and the reason, where it is no folder, or where it or what is in it may not be read and written:
 * SQLite would say neither.
 */
export function prepareFolder({ folder, ...paths }: DataPaths): void {
  makeFolder(folder);
  readdirSync(folder);
  accessSync(folder, R_OK | W_OK | X_OK);
  for (const path of Object.values(paths)) if (existsSync(path)) accessSync(path, R_OK | W_OK);
}

/** Creates the parents as well. Node's `recursive` never returns where that fails, as in `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  mkdirSync(path);
}
