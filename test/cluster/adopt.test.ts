// A log of one gateway becomes a cluster's, and a copy of a cluster's log one of its own, by the command.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { until } from '../../conformance/until.ts';
import { asObject, parseJson } from '../../conformance/value.ts';
import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { becomes, commonLog, entriesOf, post, Sayings } from './members.ts';
import { startNatsServers } from './nats-servers.ts';
import { needs } from '../needs.ts';
import { presence, withhold } from '../command.ts';

async function logName({ url }: GatewayProcess): Promise<unknown> {
  return asObject(parseJson(await (await fetch(`${url}/api/log/head`)).text()))['log'];
}

test(
  'a log becomes a cluster’s, and a copy of it a log of its own',
  needs('nats-server'),
  async (t) => {
    await using nats = await startNatsServers(1);
    await using folders = await dataFolder();
    await using running = new AsyncDisposableStack();
    const at = (name: string): string => join(folders.path, name);
    const cluster = ['--log', nats.url];
    const start = async (name: string, args: readonly string[] = []): Promise<GatewayProcess> =>
      running.use(await startGatewayProcess({ data: at(name), args: ['--threads', '1', ...args] }));
    const inCluster = (action: string, name: string, args: readonly string[] = cluster) =>
      presence('cluster', action, '--data', at(name), ...args);
    const refusalOf = async (name: string, args: readonly string[]): Promise<string> => {
      const started = start(name, args);
      return await started.then(
        () => assert.fail('it starts'),
        (error: unknown) => String(error),
      );
    };

    const alone = await start('first');
    const key = randomUUID();
    const kept = await post(alone.url, 'said before', key);
    const large = 'a large text '.repeat(20_000);
    assert.equal((await post(alone.url, large, randomUUID())).status, 201);
    const name = await logName(alone);
    assert.match((await inCluster('adopt', 'first')).stderr, /A gateway is using it/);
    await alone.stop();
    // What a copy has that was made before the command was interrupted.
    await cp(at('first'), at('second'), { recursive: true });
    assert.match(await refusalOf('first', cluster), /presence cluster adopt/);

    await t.test('once, however often the command is run', async () => {
      // A server without users takes any. No output has the password.
      const withPassword = ['--log', nats.url.replace('nats://', 'nats://me:secret@')];
      for (let runs = 0; runs < 2; runs += 1) {
        const { code, stdout } = await inCluster('adopt', 'first', withPassword);
        assert.equal(code, 0);
        assert.match(stdout, new RegExp(`The log ${String(name)}, with 2 entries`));
        assert.ok(!stdout.includes('secret'), stdout);
      }
      assert.match(await refusalOf('first', []), /presence cluster leave/);
    });

    const sayings = new Sayings();
    await t.test('which goes on in every copy', async () => {
      const members = [await start('first', cluster), await start('second', cluster)];
      const [, second] = members;
      assert.ok(second);
      await Promise.all(members.map((member) => becomes(member, 'breathing')));
      await sayings.say(members, 0, 20);
      await sayings.check(members);
      const log = await commonLog(members, 22);
      assert.ok(log[1]?.includes(large), 'the large text is another one');
      for (const member of members) assert.equal(await logName(member), name);
      assert.deepEqual(await post(second.url, 'said before', key), kept);
      // What precedes the stream is withheld as all else is.
      const { id } = asObject(asObject(parseJson(log[1] ?? ''))['entry'] ?? {});
      const why = ['--reason', 'asked for', '--yes'];
      const withheld = await withhold(at('first'), String(id), ...why);
      assert.equal(withheld.code, 0, withheld.stderr);
      for (const member of members)
        await until(
          async () => await (await fetch(`${member.url}/api/entries/${String(id)}`)).text(),
          (entry) => entry.includes('"withheld":'),
        );
      // The beginning of a copy that was made of a backup is in no stream.
      const [backups, third] = [at('backups'), at('third')];
      assert.equal((await presence('backup', backups, '--data', at('first'))).code, 0);
      const more = new Sayings();
      await more.say(members, 30, 5);
      const restored = await presence('restore', backups, '--data', third, '--as-copy');
      assert.equal(restored.code, 0, restored.stderr);
      members.push(await start('third', cluster));
      await more.check(members);
      assert.deepEqual(await post(members[2]?.url ?? '', 'said before', key), kept);
      for (const member of members) await member.stop();
    });

    await t.test('but not in a folder without its beginning, or with another one', async () => {
      assert.match(await refusalOf('empty', cluster), /The first 2 entries of this cluster's log/);
      const other = await start('other');
      await post(other.url, 'another log', randomUUID());
      await other.stop();
      assert.match(await refusalOf('other', cluster), /does not go on from them/);
      assert.match((await inCluster('adopt', 'other')).stderr, /orders another log/);
      for (const action of ['adopt', 'leave'])
        assert.match((await inCluster(action, 'none')).stderr, /It has no log/);
      const withLoss = await inCluster('adopt', 'other', [...cluster, '--accept-loss']);
      assert.match(withLoss.stderr, /--accept-loss is for leave alone/);
    });

    await t.test('and is left by a copy that has everything, while no other goes on', async () => {
      const first = await start('first', cluster);
      await becomes(first, 'breathing');
      await sayings.say([first], 20, 3);
      assert.match((await inCluster('leave', 'second')).stderr, /A gateway of the cluster runs/);
      await first.stop();
      assert.match(
        (await inCluster('leave', 'second')).stderr,
        /lacks what the cluster has stored/,
      );
      const second = await start('second', cluster);
      await commonLog([second], 30);
      await second.stop();
      for (let runs = 0; runs < 2; runs += 1) {
        const { code, stdout, stderr } = await inCluster('leave', 'second');
        assert.equal(code, 0, stderr);
        assert.match(stdout, new RegExp(`The log ${String(name)}, with 30 entries`));
      }
      const left = await start('second');
      assert.equal(await logName(left), name);
      assert.deepEqual(await post(left.url, 'said before', key), kept);
      assert.equal((await post(left.url, 'said alone', randomUUID())).seq, 31);
      await left.stop();
      assert.match(await refusalOf('second', cluster), /does not go on from them/);
      const { code, stdout } = await presence('verify', '--data', at('second'));
      assert.equal(code, 0, stdout);
    });

    await t.test('to go on in another stream, which takes no copy of the one before', async () => {
      const another = ['--log', `${nats.url}/ANOTHER`];
      const { code, stderr } = await inCluster('adopt', 'second', another);
      assert.equal(code, 0, stderr);
      assert.match(await refusalOf('third', another), /is not the one that this copy has followed/);
      const second = await start('second', another);
      await becomes(second, 'breathing');
      await second.stop();
    });

    await t.test('and by one that asks nobody, under another name', async () => {
      assert.equal((await inCluster('leave', 'first', ['--accept-loss'])).code, 0);
      const left = await start('first');
      assert.notEqual(await logName(left), name);
      assert.equal((await entriesOf(left)).length, 30);
      await left.stop();
    });
  },
);
