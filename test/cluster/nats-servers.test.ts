// The servers that the other tests of a cluster stand on do what those tests ask of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../conformance/until.ts';
import { startNatsServers } from './nats-servers.ts';
import { needs } from '../needs.ts';

async function metaLeader(monitor: string): Promise<string> {
  const text = await (await fetch(`${monitor}/jsz`)).text();
  return (JSON.parse(text) as { meta_cluster: { leader?: string } }).meta_cluster.leader ?? '';
}

async function answers(monitor: string, signal?: AbortSignal): Promise<boolean> {
  return await fetch(`${monitor}/healthz`, signal === undefined ? {} : { signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}

test(
  'two of three servers choose a leader when theirs is killed, and it can come back',
  needs('nats-server'),
  async () => {
    await using cluster = await startNatsServers(3);
    const [first] = cluster.servers;
    const dead = await metaLeader(first?.monitor ?? '');
    const leader = cluster.servers.find(({ name }) => name === dead);
    const witness = cluster.servers.find(({ name }) => name !== dead);
    assert.ok(leader && witness);
    await leader.kill();
    await until(
      () => metaLeader(witness.monitor),
      (name) => name !== dead && name !== '',
    );
    leader.start();
    await leader.healthy();
  },
);

test('a paused server answers nothing until it is resumed', needs('nats-server'), async () => {
  await using cluster = await startNatsServers(1);
  const [server] = cluster.servers;
  assert.ok(server);
  server.pause();
  // A signal may take a moment to stop all threads.
  await until(
    () => answers(server.monitor, AbortSignal.timeout(500)),
    (isAnswer) => !isAnswer,
  );
  server.resume();
  assert.ok(await answers(server.monitor));
});
