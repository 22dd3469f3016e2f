// A folder with backups may come from somebody else's hands: nothing outside of it is read or changed.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';

import { Gateway, traceBody } from '../../conformance/gateway.ts';
import { type DataFolder, dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { COMMAND } from '../withhold/command.ts';
import { backUp, restore } from './backup-folder.ts';

/** Of the system's core utilities. */
const MKFIFO = 'mkfifo';

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

/** In a process of its own, which is ended if it never answers. */
function presence(...args: readonly string[]): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const child = execFile(
    process.execPath,
    [COMMAND, ...args],
    { timeout: 30_000, killSignal: 'SIGKILL' },
    (_, _stdout, stderr) => resolve({ code: child.exitCode, stderr }),
  );
  return promise;
}

/** Replaces text in the file of a backup, and makes its checksum anew. */
async function rewrite(file: string, from: string, to: string): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -2);
  const text = lines.map((line) => `${line.replaceAll(from, to)}\n`).join('');
  const sha256 = createHash('sha256').update(text).digest('hex');
  await writeFile(file, `${text}${JSON.stringify({ sha256 })}\n`);
}

interface Backup {
  readonly folder: string;
  readonly file: string;
  /** The name of its only segment. */
  readonly segment: string;
  /** The folder of that segment. */
  readonly files: string;
}

async function backupIn(folder: string): Promise<Backup> {
  const [segment = ''] = await readdir(join(folder, 'segments'));
  const names = await readdir(folder);
  const file = join(folder, names.find((name) => name.endsWith('.backup')) ?? '');
  return { folder, file, segment, files: join(folder, 'segments', segment) };
}

/** The only large body. */
async function largeFile(files: string): Promise<string> {
  const names = await readdir(join(files, 'large'), { recursive: true });
  return join(files, 'large', names.find((name) => name.length > 3) ?? '');
}

suite('a folder with backups from somebody else', () => {
  let folders: DataFolder;
  let data: string;
  const folder = (name: string): string => join(folders.path, name);
  before(async () => {
    folders = await dataFolder();
    data = folder('data');
    await using gateway = await startGatewayProcess({ data });
    using visitor = new Gateway(gateway.url);
    await visitor.contribute('garden', traceBody('Lumen', { text: 'x'.repeat(400_000) }));
    await gateway.stop();
    await backUp(data, folder('own'));
  });
  after(() => folders[Symbol.asyncDispose]());

  async function copyOf(name: string): Promise<Backup> {
    await cp(folder('own'), folder(name), { recursive: true });
    return await backupIn(folder(name));
  }

  async function assertRefused({ folder: backups }: Backup, reason: RegExp): Promise<void> {
    const target = `${backups}-restored`;
    const { code, stderr } = await presence('restore', backups, '--data', target);
    assert.equal(code, 2, stderr);
    assert.match(stderr, reason);
    assert.deepEqual(await readdir(target).catch(() => ['lock.sqlite']), ['lock.sqlite']);
  }

  test('cannot name what is outside of it', async () => {
    const backup = await copyOf('names');
    await rename(backup.files, folder('outside'));
    await rewrite(backup.file, backup.segment, '../../outside');
    await assertRefused(backup, /does not have the form of a backup/);
  });

  test('cannot say what would control a terminal', async () => {
    const backup = await copyOf('terminal');
    await rewrite(backup.file, '"timestamp":"', String.raw`"timestamp":"\u001b]0;x\u0007`);
    await assertRefused(backup, /does not have the form of a backup/);
  });

  const places: Readonly<Record<string, (backup: Backup) => string | Promise<string>>> = {
    'the file of a backup': ({ file }) => file,
    'the folder of segments': ({ folder: backups }) => join(backups, 'segments'),
    'a segment': ({ files }) => files,
    'its blocks': ({ files }) => join(files, 'blocks'),
    'its folder of large bodies': ({ files }) => join(files, 'large'),
    'a part of that folder': async ({ files }) => dirname(await largeFile(files)),
    'a large body': async ({ files }) => await largeFile(files),
  };
  for (const [name, place] of Object.entries(places))
    test(`cannot have a link in place of ${name}`, async () => {
      const backup = await copyOf(`link ${name}`);
      const path = await place(backup);
      const moved = folder(`moved ${name}`);
      await rename(path, moved);
      await symlink(moved, path);
      await assertRefused(backup, /links are not followed/);
    });

  for (const name of ['the file of a backup', 'its blocks', 'a large body'] as const)
    test(`cannot have a FIFO in place of ${name}`, async () => {
      const backup = await copyOf(`fifo ${name}`);
      const path = (await places[name]?.(backup)) ?? '';
      await rm(path);
      execFileSync(MKFIFO, [path]);
      await assertRefused(backup, /is not a regular file/);
    });

  test('cannot have a FIFO as its list of withheld entries', async () => {
    const backup = await copyOf('withheld');
    execFileSync(MKFIFO, [join(backup.files, 'withheld')]);
    await assertRefused(backup, /is not a regular file/);
  });

  test('cannot make a backup remove or lock files elsewhere', async () => {
    const { folder: backups } = await copyOf('target');
    await rm(join(backups, 'segments'), { recursive: true });
    await mkdir(join(folder('precious'), 'kept'), { recursive: true });
    await symlink(folder('precious'), join(backups, 'segments'));
    await assert.rejects(backUp(data, backups), /links are not followed/);
    assert.deepEqual(await readdir(folder('precious')), ['kept']);
    const other = await copyOf('lock');
    await rm(join(other.folder, 'lock.sqlite'));
    await symlink(folder('locked'), join(other.folder, 'lock.sqlite'));
    await assert.rejects(backUp(data, other.folder), /links are not followed/);
    assert.ok(!(await readdir(folders.path)).includes('locked'));
  });

  test('is copied again by a backup where a segment leads elsewhere', async () => {
    const backup = await copyOf('reused');
    const blocks = join(backup.files, 'blocks');
    await rename(blocks, folder('blocks'));
    await symlink(folder('blocks'), blocks);
    const { report } = await backUp(data, backup.folder);
    assert.equal(report.reused, 0);
    const { report: restored } = await restore(report.file, folder('restored'));
    assert.equal(basename(restored.file), basename(report.file));
  });
});

suite('a folder that cannot have backups', () => {
  test('is told of in words', async () => {
    await using folders = await dataFolder();
    const data = join(folders.path, 'data');
    await using gateway = await startGatewayProcess({ data });
    await gateway.stop();
    const file = join(folders.path, 'file');
    await writeFile(file, '');
    for (const target of ['/proc/x', '/dev/full', '/dev/null/x', file, join(file, 'below')]) {
      const { code, stderr } = await presence('backup', target, '--data', data);
      assert.equal(code, 2, target);
      assert.match(stderr, /^Cannot back up the log in .*: .+\n$/, target);
    }
    for (const args of [
      ['restore', join(folders.path, 'none'), '--data', '/proc/x'],
      ['export', '--data', data, '/proc/x/log.ndjson'],
    ]) {
      const { code, stderr } = await presence(...args);
      assert.ok(code !== null && code > 0, args.join(' '));
      assert.notEqual(stderr, '');
    }
  });
});
