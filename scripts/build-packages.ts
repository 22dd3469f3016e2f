/**
 * Builds the packages for publishing, each in a folder to run `npm pack` in:
 * `node scripts/build-packages.ts [FOLDER]`. A built package has the layout of its source, with
 * JavaScript, types and a source map in the place of each TypeScript file, so that paths between files
 * are the same in both. Needs the built pages (`npm run build:web`), and brings the compiler with all
 * that tests and checks use.
 */
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { asObject, asArray } from '../conformance/value.ts';
import { PACKAGES, ROOT, run } from '../test/packages/packed.ts';
import { bringTools } from '../test/tools.ts';

const RELATIVE_IMPORT = /(?<=\bfrom '|\bimport\(['"]|\bimport ')(\.{1,2}\/[^'"]+?)\.ts(?=['"])/g;

const target = resolve(process.argv[2] ?? join(ROOT, 'dist'));
bringTools();
await rm(target, { recursive: true, force: true });
await compile();
for (const name of PACKAGES) await complete(name);

/** The browser's part last: it is compiled for more than the newest Node. */
async function compile(): Promise<void> {
  for (const project of ['tsconfig.build.json', 'tsconfig.build.browser.json']) {
    const compiler = join(ROOT, 'test/node_modules/typescript/bin/tsc');
    const args = [compiler, '-p', project, '--outDir', target];
    await run(process.execPath, args, { cwd: ROOT }).catch((error: unknown) => {
      throw new Error(String(asObject(error)['stdout']), { cause: error });
    });
  }
}

/** Adds what a package needs beside its modules. */
async function complete(name: string): Promise<void> {
  const source = join(ROOT, 'packages', name);
  const built = join(target, name);
  const manifest = asObject(JSON.parse(await readFile(join(source, 'package.json'), 'utf8')));
  for (const file of asArray(manifest['files']).map(String)) {
    // Compiled, or left out by `npm pack`.
    if (['src', 'presence.js'].includes(file) || file.startsWith('!')) continue;
    const at = file === 'PROTOCOL.md' ? ROOT : source;
    await cp(join(at, file), join(built, file), { recursive: true });
  }
  await cp(join(source, 'README.md'), join(built, 'README.md'));
  await cp(join(ROOT, 'LICENSE'), join(built, 'LICENSE'));
  const published = publishedManifest(manifest);
  await writeFile(join(built, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
  await keepTypes(built, typesOf(published));
}

function publishedManifest(manifest: Record<string, unknown>): Record<string, unknown> {
  const { private: _, scripts: __, devDependencies: ___, ...published } = manifest;
  const { exports } = published;
  if (exports === undefined) return published;
  return { ...published, exports: mapValues(asObject(exports), builtExport) };
}

function mapValues(
  object: Record<string, unknown>,
  map: (value: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
}

function builtExport(file: unknown): unknown {
  if (typeof file !== 'string' || !file.endsWith('.ts')) return file;
  const path = file.slice(0, -'.ts'.length);
  return { types: `${path}.d.ts`, default: `${path}.js` };
}

function typesOf({ exports = {} }: Record<string, unknown>): string[] {
  return Object.values(asObject(exports)).map((value) => String(asObject(value)['types']));
}

/** Removes declarations that no export needs. In those that stay, imports name JavaScript. */
async function keepTypes(folder: string, entries: readonly string[]): Promise<void> {
  const needed = new Map<string, string>();
  const queue = entries.map((entry) => join(folder, entry));
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (needed.has(file)) continue;
    const text = await declarationText(file);
    needed.set(file, text.replaceAll(RELATIVE_IMPORT, '$1.js'));
    for (const [, path = ''] of text.matchAll(RELATIVE_IMPORT))
      queue.push(`${join(dirname(file), path)}.d.ts`);
  }
  for await (const file of glob('src/**/*.d.ts', { cwd: folder })) await rm(join(folder, file));
  for (const [file, text] of needed) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/** From what was compiled or, where a declaration is written by hand, from the source. */
async function declarationText(file: string): Promise<string> {
  const source = join(ROOT, 'packages', file.slice(target.length));
  return await readFile(file, 'utf8').catch(() => readFile(source, 'utf8'));
}
