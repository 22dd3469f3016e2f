// Files of a data folder are lost, spoiled or replaced while the gateway is stopped: it does not
// serve a log that has gone back as if nothing had happened.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { after, before, suite, test } from 'node:test';

import { verifyLog } from '@open-presence/gateway';

import { Gateway } from '../../conformance/gateway.ts';
import { draftOf } from '../../packages/gateway/src/log/log.fixture.ts';
import { openFolderLog } from '../../packages/gateway/src/store/folder-log.ts';
import { acceptLog, openSqliteLog } from '../../packages/gateway/src/store/store.ts';
import { presence } from '../command.ts';
import { dataFolder, type DataFolder, startGatewayProcess } from '../gateway-process.ts';

const EARLIER = 20;
const ENTRIES = 45;

interface Damage {
  readonly name: string;
  readonly inflict: (folder: string) => Promise<void>;
  readonly refusal: RegExp;
  /** How many entries a gateway has that goes on. */
  readonly left: (entries: number) => boolean;
}

suite('a start', () => {
  let earlier: DataFolder;
  let killed: DataFolder;
  let original: string;

  before(async () => {
    [earlier, killed] = await Promise.all([dataFolder(), dataFolder()]);
    await write(killed.path, EARLIER, 'stop');
    using log = openFolderLog(killed.path);
    original = log.name;
    await cp(killed.path, earlier.path, { recursive: true });
    await write(killed.path, ENTRIES - EARLIER, 'kill');
  });
  after(async () => {
    for (const folder of [earlier, killed]) await folder[Symbol.asyncDispose]();
  });

  const damages: readonly Damage[] = [
    {
      name: 'without its WAL',
      inflict: (folder) => rm(join(folder, 'log.sqlite-wal')),
      refusal: /ends with entry \d+, but last-commit knows of entry 45/,
      left: (entries) => entries >= EARLIER && entries < ENTRIES,
    },
    {
      name: 'without log.sqlite',
      inflict: (folder) => rm(join(folder, 'log.sqlite')),
      refusal: /is not there, but last-commit knows of its entry 45/,
      left: (entries) => entries === 0,
    },
    {
      name: 'with a log that went on in another place',
      async inflict(folder) {
        await using elsewhere = await dataFolder();
        await cp(earlier.path, elsewhere.path, { recursive: true });
        await write(elsewhere.path, ENTRIES, 'stop');
        await rm(join(folder, 'log.sqlite-wal'));
        await cp(join(elsewhere.path, 'log.sqlite'), join(folder, 'log.sqlite'));
      },
      refusal: /has another entry 45 than the one that last-commit knows of/,
      left: (entries) => entries === EARLIER + ENTRIES,
    },
  ];

  for (const { name, inflict, refusal, left } of damages) {
    test(`${name} is refused, changes nothing, and goes on once the loss is accepted`, async () => {
      await using folder = await dataFolder();
      await cp(killed.path, folder.path, { recursive: true });
      await inflict(folder.path);
      const before = await contents(folder.path);
      await assert.rejects(openSqliteLog({ folder: folder.path }), refusal);
      assert.deepEqual(await contents(folder.path), before);
      if (before.has('log.sqlite')) assert.match(await faultsOf(folder.path), refusal);
      else await assert.rejects(faultsOf(folder.path), refusal);
      assert.match(acceptLog(folder.path, 'loss') ?? '', refusal);
      await using accepted = await openSqliteLog({ folder: folder.path });
      assert.ok(left(accepted.head()), String(accepted.head()));
      assert.notEqual(accepted.id, original);
      assert.equal((await accepted.append(draftOf())).outcome, 'appended');
      await accepted[Symbol.asyncDispose]();
      await using again = await openSqliteLog({ folder: folder.path });
      assert.equal(again.id, accepted.id);
    });
  }

  test('says on standard error what is lost and what to do, and takes the answer', async () => {
    await using folder = await dataFolder();
    await cp(killed.path, folder.path, { recursive: true });
    await rm(join(folder.path, 'log.sqlite-wal'));
    const advice =
      /ended with 1[^]*last-commit knows of entry 45[^]*run once: presence accept loss --data/;
    await assert.rejects(startGatewayProcess({ data: folder.path }), advice);
    const { code, stdout } = await presence('accept', 'loss', '--data', folder.path);
    assert.match(stdout, /^The log ends with entry \d+, .* under a new name\./);
    assert.equal(code, 0);
    await using _gateway = await startGatewayProcess({
      data: folder.path,
      args: ['--threads', '1'],
    });
  });
});

async function faultsOf(folder: string): Promise<string> {
  const events = await Array.fromAsync(verifyLog(folder));
  return events.map((event) => (event.type === 'fault' ? event.description : '')).join('\n');
}

async function write(data: string, count: number, end: 'stop' | 'kill'): Promise<void> {
  await using gateway = await startGatewayProcess({ data, args: ['--threads', '1'] });
  using visitor = new Gateway(gateway.url);
  for (let left = count; left > 0; left -= 1)
    await visitor.contribute('shepit', JSON.stringify({ text: `entry of ${data}, ${left}` }));
  await gateway[end]();
  // Sockets cannot be copied.
  await rm(join(data, 'control.sock'), { force: true });
}

/** All files but those that SQLite makes for readers, and those of the lock. */
async function contents(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !/-shm|lock/.test(entry.name));
  const found = new Map<string, string>();
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name);
    const bytes = await readFile(path);
    if (bytes.length > 0) found.set(relative(folder, path), hash('sha256', bytes));
  }
  return found;
}
