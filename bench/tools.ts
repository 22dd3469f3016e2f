/** Programs from outside that the benchmarks need. */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Bench } from './bench.ts';
import { run } from './children.ts';

const TOOLS = ['wrk', 'nginx'] as const;
export type Tool = (typeof TOOLS)[number];
/** Where Debian puts nchan, a module of its nginx. */
export const NCHAN = '/usr/lib/nginx/modules/ngx_nchan_module.so';

/** Installs what is missing. */
export async function bringTools(bench: Bench): Promise<void> {
  if (TOOLS.every((tool) => find(tool) !== undefined) && existsSync(NCHAN)) return;
  bench.note('installing wrk, nginx and nchan');
  const script = fileURLToPath(import.meta.resolve('./install.sh'));
  bench.note(await run(bench, ['/bin/sh', script]));
}

export function pathOf(tool: Tool): string {
  const path = find(tool);
  if (path === undefined) throw new Error(`Cannot find ${tool}: run bench/install.sh`);
  return path;
}

function find(tool: Tool): string | undefined {
  // nginx is in a folder that only root has in its PATH.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
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
