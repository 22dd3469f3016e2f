// A backup may come from somebody else's hands: nothing outside of its folder is read or changed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';

import { Gateway, traceBody } from '../../conformance/gateway.ts';
import { type DataFolder, dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { backUp, presence } from './backup-folder.ts';

/** Of the system's core utilities. */
const MKFIFO = 'mkfifo';

/** The only large body. */
async function largeFile(folder: string): Promise<string> {
  const names = await readdir(join(folder, 'large'), { recursive: true });
  return join(folder, 'large', names.find((name) => name.length > 36) ?? '');
}

suite('a backup from somebody else', () => {
  let folders: DataFolder;
  let data: string;
  const at = (name: string): string => join(folders.path, name);
  before(async () => {
    folders = await dataFolder();
    data = at('data');
    await using gateway = await startGatewayProcess({ data, args: ['--threads', '1'] });
    using visitor = new Gateway(gateway.url);
    await visitor.contribute('garden', traceBody('Lumen', { text: 'x'.repeat(400_000) }));
    await gateway.stop();
    await backUp(data, at('own'));
  });
  after(() => folders[Symbol.asyncDispose]());

  async function copyOf(name: string): Promise<string> {
    await cp(at('own'), at(name), { recursive: true });
    return at(name);
  }

  async function assertRefused(backup: string, reason: RegExp): Promise<void> {
    const target = `${backup}-restored`;
    const { code, stderr } = await presence(['restore', backup, '--data', target]);
    assert.ok(code === 1 || code === 2, stderr);
    assert.match(stderr, reason);
    assert.deepEqual(await readdir(target).catch(() => ['lock.sqlite']), ['lock.sqlite']);
  }

  test('cannot name what is outside of it', async () => {
    const backup = await copyOf('names');
    await rename(await largeFile(backup), at('outside'));
    {
      using db = new DatabaseSync(join(backup, 'log.sqlite'));
      db.exec("UPDATE large SET name = '../../../outside'");
    }
    await assertRefused(backup, /it has faults/);
    assert.equal((await readFile(at('outside'))).length > 400_000, true);
  });

  test('cannot say what would control a terminal', async () => {
    const backup = await copyOf('terminal');
    {
      using db = new DatabaseSync(join(backup, 'log.sqlite'));
      db.exec("UPDATE meta SET value = char(27) || ']0;x' WHERE name = 'name'");
    }
    await assertRefused(backup, /is not what was written/);
  });

  const places: Readonly<Record<string, (backup: string) => string | Promise<string>>> = {
    'its log': (backup) => join(backup, 'log.sqlite'),
    'its folder of large bodies': (backup) => join(backup, 'large'),
    'a large body': (backup) => largeFile(backup),
  };
  for (const [name, place] of Object.entries(places))
    test(`cannot have a link or a FIFO in place of ${name}`, async () => {
      const backup = await copyOf(`link ${name}`);
      const path = await place(backup);
      const moved = at(`moved ${name}`);
      await rename(path, moved);
      await symlink(moved, path);
      await assertRefused(backup, /links are not followed/);
      await rm(path);
      execFileSync(MKFIFO, [path]);
      await assertRefused(backup, /links are not followed/);
    });

  test('cannot make the next one remove or write files elsewhere', async () => {
    for (const name of ['large', 'log.sqlite']) {
      const backup = await copyOf(`target-${name}`);
      const precious = at(`precious-${name}`);
      await rename(join(backup, name), precious);
      await symlink(precious, join(backup, name));
      const before = await readdir(folders.path, { recursive: true });
      await assert.rejects(backUp(data, backup), /links are not followed/);
      assert.deepEqual(await readdir(folders.path, { recursive: true }), before);
    }
    const backup = await copyOf('body');
    const body = await largeFile(backup);
    await writeFile(at('precious'), 'kept');
    await rm(body);
    await symlink(at('precious'), body);
    const { report } = await backUp(data, backup);
    assert.deepEqual([report.faults, await readFile(at('precious'), 'utf8')], [0, 'kept']);
    assert.equal((await presence(['verify', backup])).code, 0);
  });
});

suite('a folder that cannot have a backup', () => {
  test('is told of in words', async () => {
    await using folders = await dataFolder();
    const data = join(folders.path, 'data');
    await using gateway = await startGatewayProcess({ data });
    await gateway.stop();
    const file = join(folders.path, 'file');
    await writeFile(file, '');
    for (const target of ['/proc/x', '/dev/full', '/dev/null/x', file, join(file, 'below')]) {
      const { code, stderr } = await presence(['backup', target, '--data', data]);
      assert.equal(code, 2, target);
      assert.match(stderr, /^Cannot back up the log in .*: .+\n$/, target);
    }
    // Of a variable that is not set: not the working directory.
    const { stderr: unset } = await presence(['backup', '', '--data', data]);
    assert.match(unset, /It must be the path of a folder, not empty/);
    for (const args of [
      ['restore', join(folders.path, 'none'), '--data', '/proc/x'],
      ['export', '--data', data, '/proc/x/log.ndjson'],
    ]) {
      const { code, stderr } = await presence(args);
      assert.ok(code !== null && code > 0, args.join(' '));
      assert.notEqual(stderr, '');
    }
  });
});
