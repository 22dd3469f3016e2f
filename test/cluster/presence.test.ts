// Who is present at one gateway of a cluster is present at all of them.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { shareClusterPresence } from '../../packages/gateway/src/cluster.ts';
import { Presence } from '../../packages/gateway/src/presence/presence.ts';
import { ThreadHub } from '../../packages/gateway/src/presence/thread-hub.ts';
import { until } from '../../conformance/until.ts';
import { type NatsServers, startNatsServers } from './nats-servers.ts';
import { needs } from '../needs.ts';

interface Member extends AsyncDisposable {
  /** Of each of its two threads. */
  readonly threads: readonly [Presence, Presence];
}

/** A gateway as far as presence is concerned. */
async function member(cluster: NatsServers, leaseMs = 5_000): Promise<Member> {
  const hub = new ThreadHub();
  const threads = [new Presence(hub.connect()), new Presence(hub.connect())] as const;
  const sharing = await shareClusterPresence(cluster.url, hub.connect(), leaseMs);
  return {
    threads,
    async [Symbol.asyncDispose]() {
      for (const thread of threads) thread[Symbol.dispose]();
      await sharing[Symbol.asyncDispose]();
      hub[Symbol.dispose]();
    },
  };
}

async function untilThere(presence: Presence, expected: readonly string[]): Promise<void> {
  await until(
    async () => names(presence),
    (there) => JSON.stringify(there) === JSON.stringify(expected.toSorted()),
    (there) => `${there.length} are there: ${there.map((name) => name.slice(0, 20)).join()}`,
  );
}

const names = (presence: Presence): string[] =>
  presence
    .list()
    .map(({ identity }) => identity)
    .toSorted();

suite('presence in a cluster', needs('nats-server'), () => {
  test('is known to every thread of every gateway, also of one that comes later', async () => {
    await using cluster = await startNatsServers(1);
    await using here = await member(cluster);
    const stream = here.threads[0].openStream({ identity: 'Lumen', room: 'porch' });
    here.threads[1].recordRequest({ identity: 'Мавка', room: undefined });
    await using there = await member(cluster);
    for (const thread of there.threads) await untilThere(thread, ['Lumen', 'Мавка']);
    const [present] = there.threads[0].list().filter(({ via }) => via === 'stream');
    assert.equal(present?.room, 'porch');
    stream[Symbol.dispose]();
    for (const { threads } of [here, there])
      for (const thread of threads) await untilThere(thread, ['Мавка']);
  });

  test('has names that are longer than a message of the servers', async () => {
    await using cluster = await startNatsServers(1);
    await using here = await member(cluster);
    await using there = await member(cluster);
    const identity = 'ї'.repeat(2_000_000);
    here.threads[0].openStream({ identity, room: undefined });
    await untilThere(there.threads[1], [identity]);
  });

  test('of a gateway ends with it, but not what it answered to', async () => {
    await using cluster = await startNatsServers(1);
    await using here = await member(cluster);
    {
      await using ending = await member(cluster);
      ending.threads[0].openStream({ identity: 'Lumen', room: undefined });
      ending.threads[0].recordRequest({ identity: 'Мавка', room: undefined });
      await untilThere(here.threads[1], ['Lumen', 'Мавка']);
    }
    await untilThere(here.threads[1], ['Мавка']);
  });

  test('of others ends with their lease while no server is there, and comes back with it', async () => {
    await using cluster = await startNatsServers(1);
    const [server] = cluster.servers;
    await using here = await member(cluster, 1_000);
    await using there = await member(cluster, 1_000);
    here.threads[0].openStream({ identity: 'Lumen', room: undefined });
    const leaving = here.threads[0].openStream({ identity: 'Мавка', room: undefined });
    await untilThere(there.threads[0], ['Lumen', 'Мавка']);
    await server?.kill();
    await untilThere(there.threads[0], []);
    assert.deepEqual(names(here.threads[0]), ['Lumen', 'Мавка']);
    leaving[Symbol.dispose]();
    server?.start();
    await untilThere(there.threads[0], ['Lumen']);
  });
});
