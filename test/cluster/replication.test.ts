// Gateways of one cluster have the same log.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { becomes, commonLog, post, say, Sayings, startCluster } from './members.ts';
import { needs } from '../needs.ts';

test('gateways of a cluster are one log', needs('nats-server'), async (t) => {
  await using cluster = await startCluster(1);
  const members = await Promise.all([cluster.start(0), cluster.start(1)]);
  const [first, second] = members;
  await Promise.all(members.map((member) => becomes(member, 'breathing')));
  const sayings = new Sayings();

  await t.test('what is said at one is at the other, with the same links', async () => {
    await sayings.say(members, 0, 40);
    await sayings.check(members);
  });

  await t.test('a retry at the other gateway is answered with the entry', async () => {
    const key = randomUUID();
    const said = await post(first.url, 'said once', key);
    const repeated = await post(second.url, 'said once', key);
    assert.equal(said.status, 201);
    assert.deepEqual(repeated, said);
    assert.equal((await post(second.url, 'something else', key)).status, 422);
  });

  await t.test('a large text is read at the other as it was said', async () => {
    const text = 'a large text '.repeat(300_000);
    const seq = await say([first], text);
    const log = await commonLog(members, seq);
    assert.ok(log[seq - 1]?.includes(`"text":"${text}"`), 'the text is another one');
  });

  await t.test(
    'a gateway that is killed under load comes back with all that it lacks',
    async () => {
      const saying = sayings.say(members, 100, 60);
      await second.kill();
      members[1] = await cluster.start(1);
      await saying;
      await sayings.check(members);
    },
  );

  await t.test('a gateway that comes up from nothing has the same log', async () => {
    const third = await cluster.start(2);
    await sayings.check([...members, third]);
    for (const member of [...members, third]) assert.deepEqual((await member.stop()).code, 0);
  });
});
