import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Creates the data folder if it does not exist. Throws the error of the system, which names the path
 * and the reason, where it is no folder, or where it or a file in it may not be read and written:
 * SQLite would say neither.
 */
export function prepareFolder(path: string): void {
  makeFolder(path);
  const names = readdirSync(path);
  accessSync(path, R_OK | W_OK | X_OK);
  for (const name of names) accessSync(join(path, name), R_OK | W_OK);
}

/** Creates the parents as well. Node's `recursive` never returns where that fails, as in `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  mkdirSync(path);
}
