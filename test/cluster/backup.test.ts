// A backup of a copy is one of the whole log: it becomes a log of its own, the beginning of another cluster,
// or a further copy of the same one, which reads on in the stream.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';

import { until } from '../../conformance/until.ts';
import { filesWith } from '../files-with.ts';
import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { becomes, commonLog, entriesOf, post, say, Sayings, startCluster } from './members.ts';
import { needs } from '../needs.ts';
import { presence } from '../command.ts';

async function done(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await presence(...args);
  assert.equal(code, 0, stderr);
}

async function withholdAt(gateway: GatewayProcess, seq: number): Promise<void> {
  const id = /"id":"([\da-f-]{36})"/.exec((await entriesOf(gateway))[seq - 1] ?? '')?.[1] ?? '';
  await done('withhold', id, '--reason', 'a test', '--yes', '--data', gateway.data);
}

test(
  'what is restored of a copy goes on alone, and as another cluster',
  needs('nats-server'),
  async (t) => {
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
    await done('backup', backups, '--data', first.data);
    await done('restore', backups, '--data', data);
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
      await done('cluster', 'adopt', '--data', data, '--log', url);
      const again = await start('--log', url);
      await becomes(again, 'breathing');
      const more = new Sayings();
      await more.say([again], 100, 5);
      await sayings.check([again]);
      assert.equal((await entriesOf(again)).length, 26);
      assert.equal((await entriesOf(second)).length, 21);
    });

    await t.test('as a further copy of its cluster, which has gone on since', async () => {
      const copy = join(folders.path, 'copy');
      const secret = `secret ${randomUUID()}`;
      const key = randomUUID();
      const { seq = 0 } = await post(first.url, secret, key);
      const other = `secret ${randomUUID()}`;
      await post(second.url, other, randomUUID());
      await done('backup', backups, '--data', first.data);
      await sayings.say(members, 20, 20);
      await withholdAt(first, seq);
      const restored = await presence('restore', backups, '--data', copy, '--as-copy');
      assert.equal(restored.code, 0, restored.stderr);
      // Which nobody may give beside --as-copy.
      assert.ok(!restored.stdout.includes('--withheld'), restored.stdout);
      const url = cluster.servers.url;
      const third = running.use(
        await startGatewayProcess({ data: copy, args: ['--threads', '1', '--log', url] }),
      );
      await becomes(third, 'breathing');
      await sayings.check([...members, third]);
      assert.deepEqual(await post(third.url, secret, key), { status: 201, seq });
      await until(
        () => filesWith(copy, secret),
        (files) => files.length === 0,
      );
      await sayings.say([third], 40, 5);
      await sayings.check([...members, third]);
      // It knows which messages of the stream made the entries that it was restored with.
      for (const member of members) await member.stop();
      await withholdAt(third, seq + 1);
      assert.deepEqual(await filesWith(cluster.servers.folder, other), []);
    });
  },
);
