/** Data folders: seeded ones, which stay in the scratch folder for later runs, and temporary ones. */
import { hash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { runCommand } from '../processes/child-process.ts';

const SEED = fileURLToPath(import.meta.resolve('./seed.ts'));
/** Defines the storage format: when this file changes, logs are seeded again. */
const FORMAT = fileURLToPath(
  import.meta.resolve('../../packages/gateway/src/store/log/log-database.ts'),
);
/** To be incremented when the seeded entries change. */
const VERSION = 2;
/** An upper bound for one seeded entry in the store. */
const ENTRY_BYTES = 1200;

/** Texts in one language with few words; in several with many; the former, each with a key, or with answers. */
export type Contents = 'one' | 'many' | 'keyed' | 'threads';

export interface Folder extends AsyncDisposable {
  readonly path: string;
}

export async function emptyFolder(bench: BenchContext): Promise<Folder> {
  const path = await mkdtemp(join(bench.scratch, 'run-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A shared log, for reading only: what is written to it stays for later runs. */
export async function seededFolder(
  bench: BenchContext,
  count: number,
  mix = 'garden=1',
  contents: Contents = 'one',
): Promise<string> {
  const name = `seed-${count}-${mix.replaceAll(/[=,]/g, '')}-${contents}-`;
  const format = hash('sha256', await readFile(FORMAT)).slice(0, 8);
  const path = join(bench.scratch, `${name}v${VERSION}-${format}`);
  const done = `${path}.done`;
  if (existsSync(done)) return path;
  for (const stale of await readdir(bench.scratch)) {
    if (stale.startsWith(name)) await rm(join(bench.scratch, stale), { recursive: true });
  }
  await requireSpace(bench, count * ENTRY_BYTES);
  await mkdir(path);
  bench.note(`seeding ${count.toLocaleString('en')} entries (${mix})`);
  const startedAt = performance.now();
  await runCommand(bench, [process.execPath, SEED, path, String(count), mix, contents]);
  bench.note(`seeded in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  await writeFile(done, '');
  return path;
}

/** A copy of a seeded log, for writing. */
export async function copiedFolder(
  bench: BenchContext,
  count: number,
  contents?: Contents,
): Promise<Folder> {
  const from = await seededFolder(bench, count, 'garden=1', contents);
  await requireSpace(bench, count * ENTRY_BYTES);
  const folder = await emptyFolder(bench);
  try {
    await cp(from, folder.path, { recursive: true, mode: constants.COPYFILE_FICLONE });
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
  return folder;
}

export async function requireSpace(bench: BenchContext, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(bench.scratch);
  if (bavail * bsize >= bytes) return;
  const [free, needed] = [bavail * bsize, bytes].map((size) => `${Math.ceil(size / 1e9)} GB`);
  throw new Error(`Cannot go on: ${bench.scratch} has ${free} free, ${needed} are needed`);
}
