/** Data folders: seeded ones, made once and kept in the scratch folder, and ones for one use. */
import { constants, existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Bench } from './bench.ts';
import { run } from './children.ts';

const SEED = fileURLToPath(import.meta.resolve('./seed.ts'));
/** Goes up when seeded logs change in a way that the store does not bring about by itself. */
const VERSION = 1;
/** More than the store needs for one seeded entry. */
const ENTRY_BYTES = 1200;

export interface Folder extends AsyncDisposable {
  readonly path: string;
}

export async function emptyFolder(bench: Bench): Promise<Folder> {
  const path = await mkdtemp(join(bench.scratch, 'run-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A log with so many entries, for reading only: what is written to it stays for the next run. */
export async function seededFolder(bench: Bench, count: number, mix = 'garden=1'): Promise<string> {
  const path = join(bench.scratch, `seed-v${VERSION}-${count}-${mix.replaceAll(/[=,]/g, '')}`);
  const done = `${path}.done`;
  if (existsSync(done)) return path;
  await requireSpace(bench, count * ENTRY_BYTES);
  await rm(path, { recursive: true, force: true });
  await mkdir(path);
  bench.note(`seeding ${count.toLocaleString('en')} entries (${mix})`);
  const began = performance.now();
  await run(bench, [process.execPath, SEED, path, String(count), mix]);
  bench.note(`seeded in ${Math.round((performance.now() - began) / 1000)} s`);
  await writeFile(done, '');
  return path;
}

/** A copy of a seeded log, to be written to. */
export async function copiedFolder(bench: Bench, count: number): Promise<Folder> {
  const from = await seededFolder(bench, count);
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

export async function requireSpace(bench: Bench, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(bench.scratch);
  if (bavail * bsize >= bytes) return;
  const [free, wanted] = [bavail * bsize, bytes].map((one) => `${Math.ceil(one / 1e9)} GB`);
  throw new Error(`Cannot go on: ${bench.scratch} has ${free} free, ${wanted} are wanted`);
}
