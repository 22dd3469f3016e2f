/** A disk that loses, when its power fails, what was not flushed: LazyFS (github.com/dsrhaslab/lazyfs). */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { until } from '../../../conformance/until.ts';

export interface LazyDisk extends AsyncDisposable {
  readonly path: string;
  /** Nothing may be using the disk. */
  losePower(): Promise<void>;
}

/** `program`: the built `lazyfs`. `folder`: an empty one, for the disk and what is on it. */
export async function mountLazyDisk(program: string, folder: string): Promise<LazyDisk> {
  const path = join(folder, 'disk');
  const stored = join(folder, 'stored');
  const file = join(folder, 'lazyfs.toml');
  const commands = join(folder, 'commands');
  const log = join(folder, 'lazyfs.log');
  await Promise.all([mkdir(path), mkdir(stored)]);
  await writeFile(
    file,
    `[faults]
fifo_path="${commands}"
[cache]
apply_eviction=false
[cache.simple]
custom_size="128mb"
blocks_per_page=1
[filesystem]
log_all_operations=false
logfile="${log}"
`,
  );
  const options = ['-o', 'allow_other', '-o', 'modules=subdir', '-o', `subdir=${stored}`, '-f'];
  const child = spawn(program, [path, '--config-path', file, ...options], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const device = (await stat(folder)).dev;
  await until(
    async () => (await stat(path)).dev !== device && (await stat(commands)).isFIFO(),
    Boolean,
  );
  const cuts = async (): Promise<number> =>
    (await readFile(log, 'latin1')).split('cache is cleared').length - 1;
  return {
    path,
    async losePower() {
      const before = await cuts();
      await writeFile(commands, 'lazyfs::clear-cache\n');
      await until(cuts, (now) => now > before);
    },
    async [Symbol.asyncDispose]() {
      await promisify(execFile)('fusermount3', ['-uz', path]);
      child.kill('SIGTERM');
      await ended;
    },
  };
}
