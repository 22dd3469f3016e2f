// Servers of a cluster are killed under load. By hand: node --test test/cluster/server-kills.ts
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { becomes, entriesOf, post, say, Sayings, startCluster } from './members.ts';

test('a cluster outlives kills of its servers', async (t) => {
  await using cluster = await startCluster(3);
  const { servers } = cluster;
  const members = await Promise.all([cluster.start(0), cluster.start(1)]);
  const [first] = members;
  await Promise.all(members.map((member) => becomes(member, 'breathing')));
  const sayings = new Sayings();

  await t.test('nothing is lost or doubled when the leader of the stream is killed', async () => {
    const leader = await servers.leader('PRESENCE');
    assert.ok(leader);
    const saying = sayings.say(members, 200, 60);
    await leader.kill();
    await saying;
    await sayings.check(members);
    leader.start();
    await leader.healthy();
  });

  await t.test('without a majority reading goes on, and storing when it is back', async () => {
    const lost = servers.servers.slice(1);
    await Promise.all(lost.map((server) => server.kill()));
    // Whoever speaks first finds out.
    const unanswered = say(members, 'said to whoever answers');
    await becomes(first, 'holding');
    assert.equal((await post(first.url, 'refused at once', randomUUID())).status, 503);
    assert.ok((await entriesOf(first)).length > 0);
    for (const server of lost) server.start();
    await Promise.all(lost.map((server) => server.healthy()));
    await becomes(first, 'breathing');
    sayings.acknowledged.set('said to whoever answers', await unanswered);
    await sayings.say(members, 300, 10);
    await sayings.check(members);
  });
});
