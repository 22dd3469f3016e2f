/**
 * Installs what only tests, checks and benchmarks use (`test/package.json`, or that of another
 * folder), if it is not there or the lockfile has changed: a gateway is installed and run without it.
 */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = import.meta.dirname;

export function bringTools(folder: string = FOLDER): void {
  if (isInstalled(folder)) return;
  console.log(`Installing what ${join(folder, 'package.json')} names.`);
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
}

/** npm writes the second file when it has installed what the first one says. */
function isInstalled(folder: string): boolean {
  const changed = (...path: readonly string[]): number =>
    statSync(join(folder, ...path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return changed('node_modules/.package-lock.json') > changed('package-lock.json');
}

if (import.meta.main) bringTools(join(FOLDER, process.argv[2] ?? '.'));
