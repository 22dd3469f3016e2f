// Settings of real servers that would lose acknowledged entries are refused.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { suite, test } from 'node:test';

import { jetstreamManager, type StreamConfig } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { connect } from '@nats-io/transport-node';

import { type NatsOptions, startNatsServers } from '../../../../test/cluster/nats-servers.ts';
import { checkServers, checkStream, ClusterRefusal, replicasFor } from './check-servers.ts';
import { needs } from '../../../../test/needs.ts';

/** The refusal of one server with these settings; undefined if it is taken. */
async function refusalOf(options: NatsOptions): Promise<string | undefined> {
  await using cluster = await startNatsServers(1, options);
  return await refusalBy(() => checkServers(cluster.servers.map(({ address }) => address)));
}

async function refusalBy(check: () => unknown): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ClusterRefusal);
    return error.message;
  }
}

suite('servers are refused', { concurrency: 2, ...needs('nats-server') }, () => {
  test('that acknowledge before they flush', async () => {
    assert.match((await refusalOf({ syncInterval: '2m' })) ?? '', /sync_interval: always/);
  });

  test('that take only small messages', async () => {
    assert.match((await refusalOf({ config: 'max_payload: 65536' })) ?? '', /max_payload: 1048576/);
  });

  test('that stand alone while three are named', async () => {
    await using alone = await startNatsServers(1);
    const [address = ''] = alone.servers.map((server) => server.address);
    const three = [address, '127.0.0.1:1', '127.0.0.1:2'];
    assert.match((await refusalBy(() => checkServers(three))) ?? '', /a server on its own/);
  });

  test('whose settings cannot be asked for', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const { port } = address;
    const refusal = await refusalBy(() => checkServers([`127.0.0.1:${port}`]));
    assert.match(refusal ?? '', new RegExp(`Add "http: ${port + 4000}"`));
    server.close();
  });

  for (const [title, changed, expected] of [
    ['are old', { version: '2.10.22' }, /2\.10\.23 or later/],
    ['have no JetStream', { jetstream: {} }, /JetStream is off/],
    ['have another time', { now: '2020-01-01T00:00:00Z' }, /clock differs/],
  ] as const) {
    test(`that ${title}`, async () => {
      const settings = { version: '2.12.0', max_payload: 1 << 20, now: new Date().toISOString() };
      const jetstream = { config: { sync_always: true } };
      const body = JSON.stringify({ ...settings, jetstream, ...changed });
      const monitor = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
      await once(monitor, 'listening');
      const address = monitor.address();
      assert.ok(typeof address === 'object' && address !== null);
      const refusal = await refusalBy(() => checkServers([`127.0.0.1:${address.port - 4000}`]));
      assert.match(refusal ?? '', expected);
      monitor.close();
    });
  }
});

test(
  'three good servers are taken, even while one is down or has JetStream off, but not one of them alone',
  needs('nats-server'),
  async () => {
    await using cluster = await startNatsServers(3);
    const addresses = cluster.servers.map(({ address }) => address);
    assert.deepEqual(await checkServers(addresses), []);
    assert.match(
      (await refusalBy(() => checkServers(addresses.slice(1, 2)))) ?? '',
      /one of several/,
    );
    const [one] = cluster.servers;
    assert.ok(one);
    await one.kill();
    assert.deepEqual(await checkServers(addresses), addresses.slice(0, 1));
    const settings = await readFile(one.file, 'utf8');
    await writeFile(one.file, settings.replace('jetstream {', 'jetstream {\n  enabled: false'));
    one.start();
    await one.healthy();
    assert.deepEqual(await checkServers(addresses), addresses.slice(0, 1));
    assert.equal(replicasFor(addresses), 3);
  },
);

const GOOD = {
  storage: 'file',
  num_replicas: 1,
  discard: 'new',
  retention: 'limits',
} as const satisfies Partial<StreamConfig> | Record<string, unknown>;

test(
  'a stream that loses nothing is taken, and refused for each setting that could lose something',
  needs('nats-server'),
  async () => {
    await using cluster = await startNatsServers(1);
    const connection = await connect({ servers: cluster.servers.map(({ address }) => address) });
    const { streams } = await jetstreamManager(connection);
    let number = 0;
    const refusal = async (
      config: Partial<StreamConfig>,
      replicas: 1 | 3 = 1,
    ): Promise<string | undefined> => {
      // A server may still be removing a deleted stream, so each stream gets a name of its own.
      number += 1;
      const name = `S${number}`;
      const info = await streams.add({ ...GOOD, ...config, name, subjects: [`${name}.>`] });
      return refusalBy(() => checkStream(info.config, replicas));
    };
    assert.equal(await refusal({}), undefined);
    assert.match((await refusal({}, 3)) ?? '', /1 replica; it needs 3/);
    for (const [config, expected] of [
      [{ storage: 'memory' }, /in memory/],
      [{ retention: 'workqueue' }, /retention: workqueue/],
      [{ discard: 'old' }, /discard: old/],
      [{ max_age: nanos(3_600_000) }, /expire/],
      [{ max_msgs: 10 }, /a limit/],
      [{ max_bytes: 10_000 }, /a limit/],
      [{ max_msg_size: 10_000 }, /a limit/],
      [{ deny_delete: true }, /deny_delete/],
      [{ no_ack: true }, /no_ack/],
    ] as const)
      assert.match((await refusal(config)) ?? '', expected);
    await connection.close();
  },
);
