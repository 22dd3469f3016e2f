// A gateway where nobody says anything notices what becomes of its stream.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

import { becomes, startCluster } from './members.ts';
import type { NatsServer } from './nats-servers.ts';
import { needs } from '../needs.ts';

test('an idle gateway holds while most servers are down', needs('nats-server'), async () => {
  await using cluster = await startCluster(3);
  const gateway = await cluster.start(0);
  await becomes(gateway, 'breathing');
  // A lost connection would tell it: those that fail are the other two.
  const killed: NatsServer[] = [];
  for (const server of cluster.servers.servers) {
    const connections = await (await fetch(`${server.monitor}/connz?subs=true`)).text();
    if (!connections.includes('"PRESENCE-copies"')) killed.push(server);
  }
  assert.equal(killed.length, 2);
  for (const server of killed) await server.kill();
  await becomes(gateway, 'holding');
  for (const server of killed) server.start();
  await becomes(gateway, 'breathing');
});

test(
  'an idle gateway ends where its stream is removed and made again',
  needs('nats-server'),
  async () => {
    await using cluster = await startCluster(1);
    const gateway = await cluster.start(0);
    await becomes(gateway, 'breathing');
    const connection = await connect({ servers: cluster.servers.url.slice('nats://'.length) });
    const manager = await jetstreamManager(connection);
    await manager.streams.delete('PRESENCE');
    await becomes(gateway, 'holding');
    await connection.close();
    await cluster.start(1);
    const { code } = await gateway.ends();
    assert.notEqual(code, 0);
    assert.match(
      gateway.output(),
      /orders another log.* Name the stream of this one after the servers/,
    );
  },
);
