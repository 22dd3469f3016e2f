/** Data folders: seeded ones, made once and kept in the scratch folder, and ones for one use. */
import { hash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Bench } from './bench.ts';
import { run } from './children.ts';

const SEED = fileURLToPath(import.meta.resolve('./seed.ts'));
/** What says how a log is stored: when it changes, logs are seeded anew. */
const FORMAT = fileURLToPath(
  import.meta.resolve('../packages/gateway/src/stores/sqlite/log/log-database.ts'),
);
/** Goes up when seeded logs are to be others. */
const VERSION = 2;
/** More than the store needs for one seeded entry. */
const ENTRY_BYTES = 1200;

/** Entries of one language with few words, or of several with many. */
export type Tongues = 'one' | 'many';

export interface Folder extends AsyncDisposable {
  readonly path: string;
}

export async function emptyFolder(bench: Bench): Promise<Folder> {
  const path = await mkdtemp(join(bench.scratch, 'run-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A log with so many entries, for reading only: what is written to it stays for the next run. */
export async function seededFolder(
  bench: Bench,
  count: number,
  mix = 'garden=1',
  tongues: Tongues = 'one',
): Promise<string> {
  const name = `seed-${count}-${mix.replaceAll(/[=,]/g, '')}-${tongues}-`;
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
  const began = performance.now();
  await run(bench, [process.execPath, SEED, path, String(count), mix, tongues]);
  bench.note(`seeded in ${Math.round((performance.now() - began) / 1000)} s`);
  await writeFile(done, '');
  return path;
}

/** A copy of a seeded log, to be written to. */
export async function copiedFolder(
  bench: Bench,
  count: number,
  tongues?: Tongues,
): Promise<Folder> {
  const from = await seededFolder(bench, count, 'garden=1', tongues);
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
