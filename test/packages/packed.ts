/** The packages as they would be published, and empty projects to install them in. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { asArray, asObject } from '../../conformance/value.ts';

export const run = promisify(execFile);
export const ROOT = join(import.meta.dirname, '../..');
export const PACKAGES = ['protocol', 'client', 'web', 'gateway', 'cluster', 'cli'] as const;

export interface Packed {
  /** Without its scope. */
  readonly name: string;
  readonly tarball: string;
  /** Paths in the package. */
  readonly files: readonly string[];
  /** Bytes of the tarball and of its files. */
  readonly size: number;
  readonly unpackedSize: number;
}

/** Builds all packages into the folder, and packs them there. In the order of `PACKAGES`. */
export async function packAll(folder: string): Promise<Packed[]> {
  await run(process.execPath, [join(ROOT, 'scripts/build-packages.ts'), folder]);
  const folders = PACKAGES.map((name) => `./${name}`);
  const args = ['pack', '--json', '--offline', ...folders];
  const { stdout } = await run('npm', args, { cwd: folder });
  const packed: unknown = JSON.parse(stdout.slice(stdout.search(/^[[{]/m)));
  const list = Array.isArray(packed) ? asArray(packed) : Object.values(asObject(packed));
  return list.map(asObject).map(({ name, filename, files, size, unpackedSize }) => ({
    name: String(name).replace('@open-presence/', ''),
    tarball: join(folder, String(filename)),
    files: asArray(files).map((file) => String(asObject(file)['path'])),
    size: Number(size),
    unpackedSize: Number(unpackedSize),
  }));
}

/** Makes an empty project, and installs only these packages in it. */
export async function install(folder: string, ...packages: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'package.json'),
    '{"name":"installed","version":"0.0.0","private":true,"type":"module"}',
  );
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  await run('npm', ['install', ...quiet, ...packages], { cwd: folder });
}
