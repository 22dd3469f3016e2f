// A backup of a copy is one of the whole log: it becomes a log of its own, and the beginning of another cluster.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { becomes, commonLog, entriesOf, say, Sayings, startCluster } from './members.ts';

const COMMAND = join(import.meta.dirname, '../../packages/cli/presence.js');

async function presence(...args: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [COMMAND, ...args]);
}

test('what is restored of a copy goes on alone, and as another cluster', async (t) => {
  await using cluster = await startCluster(1);
  await using folders = await dataFolder();
  await using running = new AsyncDisposableStack();
  const members = [await cluster.start(0), await cluster.start(1)];
  for (const member of members) await becomes(member, 'breathing');
  const [first, second] = members;
  assert.ok(first && second);
  const sayings = new Sayings();
  await sayings.say(members, 0, 20);
  const large = 'a large text '.repeat(50_000);
  sayings.acknowledged.set(large, await say([second], large));
  await commonLog(members, 21);

  const [backups, data] = [join(folders.path, 'backups'), join(folders.path, 'restored')];
  // The gateway of the folder runs.
  await presence('backup', backups, '--data', first.data);
  await presence('restore', backups, '--data', data);
  const start = async (...args: readonly string[]): Promise<GatewayProcess> =>
    running.use(await startGatewayProcess({ data, args: ['--threads', '1', ...args] }));

  await t.test('alone', async () => {
    const alone = await start();
    assert.deepEqual(await entriesOf(alone), await entriesOf(second));
    await sayings.check([alone]);
    await alone.stop();
  });

  await t.test('not as a copy of the cluster that it comes from', async () => {
    const { url } = cluster.servers;
    await assert.rejects(start('--log', url), /does not go on from them/);
  });

  await t.test('as the first copy of another stream', async () => {
    const url = `${cluster.servers.url}/RESTORED`;
    await presence('cluster', 'adopt', '--data', data, '--log', url);
    const again = await start('--log', url);
    await becomes(again, 'breathing');
    const more = new Sayings();
    await more.say([again], 100, 5);
    await sayings.check([again]);
    assert.equal((await entriesOf(again)).length, 26);
    assert.equal((await entriesOf(second)).length, 21);
  });
});
