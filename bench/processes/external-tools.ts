/** External programs that the benchmarks need. */
import { accessSync, constants, existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { runCommand } from './child-process.ts';

const TOOLS = [
  'wrk',
  'nginx',
  'webdis',
  'redis-server',
  'sqlite3',
  'strace',
  'initdb',
  'postgres',
] as const;
export type Tool = (typeof TOOLS)[number];
/** Debian's path of the nginx module nchan. */
export const NCHAN = '/usr/lib/nginx/modules/ngx_nchan_module.so';

/** Installs what is missing. */
export async function installTools(bench: BenchContext): Promise<void> {
  if (TOOLS.every((tool) => find(tool) !== undefined) && existsSync(NCHAN)) return;
  bench.note('installing wrk, nginx, nchan, webdis, Redis, sqlite3, strace and PostgreSQL');
  const script = fileURLToPath(import.meta.resolve('../install.sh'));
  bench.note(await runCommand(bench, ['/bin/sh', script]));
}

export function pathOf(tool: Tool): string {
  const path = find(tool);
  if (path === undefined) throw new Error(`Cannot find ${tool}: run bench/install.sh`);
  return path;
}

function find(tool: Tool): string | undefined {
  // nginx is in a folder that is in root's PATH only, PostgreSQL in one that is in nobody's.
  const others = ['/usr/sbin', '/usr/local/sbin', ...globSync('/usr/lib/postgresql/*/bin')];
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...others];
  return folders.map((folder) => join(folder, tool)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
