/**
 * Builds the Debian package for the architecture of this machine, by `dpkg-deb`:
 * `node scripts/build-debian.ts [FOLDER] [VERSION]`. FOLDER is `dist` by default. `DEBFULLNAME` and
 * `DEBEMAIL` name its maintainer, as for Debian's own tools.
 */
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { LOG_FORMAT } from '@open-presence/gateway';

import { asObject } from '../conformance/value.ts';
import { ROOT, run } from '../test/packages/packed.ts';
import { COMMAND_LINK, DEPLOYED_FILES } from './debian-files.ts';
import { buildInstalledTree } from './installed-tree.ts';

const NAME = 'open-presence';
const DEPLOY = join(ROOT, 'deploy');
const LIBRARY = `usr/lib/${NAME}`;
const DOCUMENTS = `usr/share/doc/${NAME}`;
const SCRIPTS = ['preinst', 'postinst', 'prerm', 'postrm'];
/** What dpkg does not install, or knows as configuration. */
const NOT_SUMMED = /^\/(?:DEBIAN|etc)\//;

const manifest = asObject(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
const target = resolve(process.argv[2] ?? join(ROOT, 'dist'));
// A package whose log has another format has another version.
const version = process.argv[3] ?? `${String(manifest['version'])}+format${LOG_FORMAT}-1`;
const { DEBFULLNAME = 'Open Presence Gateway maintainers', DEBEMAIL = 'root@localhost' } =
  process.env;
const maintainer = `${DEBFULLNAME} <${DEBEMAIL}>`;

// Files are created for all to read.
process.umask(0o022);
const root = await mkdtemp(join(tmpdir(), 'presence-debian-'));
try {
  const dependencies = await buildInstalledTree(join(root, LIBRARY));
  await addCommand();
  for (const [path, source] of Object.entries(DEPLOYED_FILES))
    await add(path, await readFile(join(DEPLOY, source)));
  await addDocuments(dependencies);
  await run('chmod', ['-R', 'u=rwX,go=rX', root]);
  // Programs of dependencies are run by Node.js, not by their names.
  const modules = join(root, LIBRARY, 'node_modules');
  await run('find', [modules, '-type', 'f', '-exec', 'chmod', 'a-x', '{}', '+']);
  await addControl();
  const { stdout: architecture } = await run('dpkg', ['--print-architecture']);
  const file = join(target, `${NAME}_${version}_${architecture.trim()}.deb`);
  await mkdir(target, { recursive: true });
  await run('dpkg-deb', ['-Zxz', '-z3', '--root-owner-group', '--build', root, file]);
  console.log(file);
} finally {
  await rm(root, { recursive: true });
}

async function add(path: string, content: string | Buffer, mode = 0o644): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
  await chmod(join(root, path), mode);
}

/** Compressed as Debian wants it, without a time. */
async function addCompressed(path: string, content: string | Buffer): Promise<void> {
  await add(path, content);
  await run('gzip', ['-9n', join(root, path)]);
}

async function addCommand(): Promise<void> {
  const node = join(root, LIBRARY, 'bin/node');
  await run('strip', ['--strip-unneeded', '--remove-section=.comment', node]);
  await mkdir(dirname(join(root, COMMAND_LINK)));
  await symlink(`../lib/${NAME}/bin/presence`, join(root, COMMAND_LINK));
}

async function addDocuments(dependencies: readonly string[]): Promise<void> {
  await addCompressed(`${DOCUMENTS}/changelog`, await readFile(join(ROOT, 'CHANGELOG.md')));
  const date = (await run('date', ['--rfc-email'])).stdout.trim();
  const entry = `${NAME} (${version}) unstable; urgency=medium\n\n  * Version ${version}.\n\n -- ${maintainer}  ${date}\n`;
  await addCompressed(`${DOCUMENTS}/changelog.Debian`, entry);
  const sections = await Promise.all(dependencies.map(copyrightOf));
  const own = await readFile(join(DEPLOY, 'debian/copyright'), 'utf8');
  await add(`${DOCUMENTS}/copyright`, [own.trimEnd(), ...sections].join('\n\n') + '\n');
}

/** The licence of a dependency; its text is in the folder of the dependency. */
async function copyrightOf(folder: string): Promise<string> {
  const path = join(root, LIBRARY, folder, 'package.json');
  const { name, license } = asObject(JSON.parse(await readFile(path, 'utf8')));
  return `Files: ${LIBRARY}/${folder}/*\nCopyright: the authors of ${String(name)}\nLicense: ${String(license)}\n Its text is in /${LIBRARY}/${folder}.`;
}

async function addControl(): Promise<void> {
  const { stdout: architecture } = await run('dpkg', ['--print-architecture']);
  const { stdout: size } = await run('du', ['-sk', '--apparent-size', root]);
  const template = await readFile(join(DEPLOY, 'debian/control'), 'utf8');
  const values: Readonly<Record<string, string>> = {
    VERSION: version,
    ARCHITECTURE: architecture.trim(),
    MAINTAINER: maintainer,
    SIZE: size.split('\t')[0] ?? '',
  };
  await add('DEBIAN/md5sums', await md5sums());
  await add(
    'DEBIAN/control',
    template.replaceAll(/@([A-Z]+)@/g, (_, name) => values[String(name)] ?? ''),
  );
  await add('DEBIAN/conffiles', '/etc/logrotate.d/open-presence\n/etc/presence/presence.env\n');
  for (const script of SCRIPTS) {
    const text = await readFile(join(DEPLOY, 'debian', script), 'utf8');
    await add(`DEBIAN/${script}`, text.replaceAll('@FORMAT@', String(LOG_FORMAT)), 0o755);
  }
}

async function md5sums(): Promise<string> {
  const lines: string[] = [];
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || NOT_SUMMED.test(path.slice(root.length))) continue;
    const sum = createHash('md5')
      .update(await readFile(path))
      .digest('hex');
    lines.push(`${sum}  ${path.slice(root.length + 1)}\n`);
  }
  return lines.join('');
}
