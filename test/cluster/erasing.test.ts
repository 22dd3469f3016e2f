// What is withheld is in no file of the cluster any more, and a copy made afterwards is the same log.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { type Entry, Gateway } from '@open-presence/client';

import { until } from '../../conformance/until.ts';
import { filesWith } from '../files-with.ts';
import type { GatewayProcess } from '../gateway-process.ts';
import { run, withhold } from '../command.ts';
import { becomes, commonLog, post, say, Sayings, startCluster } from './members.ts';
import { needs } from '../needs.ts';

async function isNowhere(text: string, folders: readonly string[]): Promise<void> {
  await until(
    async () => (await Promise.all(folders.map((folder) => filesWith(folder, text)))).flat(),
    (files) => files.length === 0,
  );
}

async function withholdAt(gateway: GatewayProcess, ...seqs: readonly number[]): Promise<void> {
  const { code, stderr } = await withhold(gateway.data, ...(await argumentsFor(gateway, seqs)));
  assert.equal(code, 0, stderr);
}

async function argumentsFor(
  gateway: GatewayProcess,
  seqs: readonly number[],
  reason = 'a test',
): Promise<readonly string[]> {
  const log = await commonLog([gateway], Math.max(...seqs));
  const ids = seqs.map((seq) => /"id":"([\da-f-]{36})"/.exec(log[seq - 1] ?? '')?.[1] ?? '');
  return ['--reason', reason, '--yes', ...ids];
}

/** Each has the conversation without what was withheld from its middle. */
async function haveThread(
  members: readonly GatewayProcess[],
  [root, , deeper]: readonly Entry[],
): Promise<void> {
  assert.ok(root !== undefined && deeper !== undefined);
  for (const { url } of members)
    await until(
      async () =>
        await Array.fromAsync(
          new Gateway(url).entries({ thread: deeper.id, order: 'oldest' }),
          ({ seq }) => seq,
        ),
      (seqs) => seqs.join() === [root.seq, deeper.seq].join(),
    );
}

async function withheldAt({ url }: GatewayProcess): Promise<string> {
  return await (await fetch(`${url}/api/withheld`)).text();
}

test('what is withheld is erased from the stream', needs('nats-server'), async (t) => {
  await using cluster = await startCluster(1);
  const members = await Promise.all([cluster.start(0), cluster.start(1)]);
  const [first, second] = members;
  await Promise.all(members.map((member) => becomes(member, 'breathing')));
  const { folder: stream } = cluster.servers;
  const folders = [stream, first.data, second.data];
  const sayings = new Sayings();
  await sayings.say(members, 0, 40);

  await t.test('a text that was said twice, at two gateways', async () => {
    const [secret, key] = [`secret ${randomUUID()}`, randomUUID()];
    const { seq = 0 } = await post(first.url, secret, key);
    assert.equal((await post(second.url, secret, key)).seq, seq);
    assert.notDeepEqual(await filesWith(stream, secret), []);
    await withholdAt(first, seq);
    assert.deepEqual(await filesWith(stream, secret), [], 'the command ended before');
    await isNowhere(secret, folders);
    // Said again after that, it is in the stream again.
    assert.deepEqual(await post(second.url, secret, key), { status: 201, seq });
    await isNowhere(secret, folders);
  });

  await t.test('not so what is hidden: it is shown again at each, and to a new copy', async () => {
    const [secret, another] = [`hidden ${randomUUID()}`, `hidden ${randomUUID()}`];
    const seqs = [
      await say([first], secret),
      await say([second], secret.repeat(20_000)),
      await say([first], another),
    ];
    const hidden = await run('hide', second.data, ...(await argumentsFor(second, seqs)));
    assert.equal(hidden.code, 0, hidden.stderr);
    const texts = async ({ url }: GatewayProcess): Promise<string> =>
      await (await fetch(`${url}/api/entries?limit=9`)).text();
    for (const member of members)
      await until(
        () => texts(member),
        (text) => !text.includes(secret),
      );
    const shown = await run('show', first.data, ...(await argumentsFor(first, seqs.slice(0, 2))));
    assert.equal(shown.code, 0, shown.stderr);
    await withholdAt(first, ...seqs.slice(2));
    await isNowhere(another, folders);
    await using third = await cluster.start(2);
    await becomes(third, 'breathing');
    for (const member of [...members, third])
      await until(
        () => texts(member),
        (text) => text.split(secret).length === 20_002,
        (text) => `it is given ${text.split(secret).length - 1} times`,
      );
    const wanted = await withheldAt(first);
    await until(
      () => withheldAt(third),
      (cases) => cases === wanted,
      (cases) => `${cases} is not ${wanted}`,
    );
  });

  await t.test('a large text', async () => {
    const secret = `secret ${randomUUID()}`;
    const seq = await say([second], secret.repeat(50_000));
    assert.notDeepEqual(await filesWith(stream, secret), []);
    await withholdAt(second, seq);
    await isNowhere(secret, folders);
  });

  await t.test('a large text that was said twice, at two gateways', async () => {
    const [secret, key] = [`secret ${randomUUID()}`, randomUUID()];
    const { seq = 0 } = await post(first.url, secret.repeat(50_000), key);
    assert.equal((await post(second.url, secret.repeat(50_000), key)).seq, seq);
    await withholdAt(first, seq);
    await isNowhere(secret, folders);
    assert.equal((await post(first.url, secret.repeat(50_000), key)).seq, seq);
    await isNowhere(secret, folders);
  });

  await t.test('texts that came in one message, one after the other', async () => {
    const secret = `secret ${randomUUID()}`;
    const seqs = await Promise.all(
      Array.from({ length: 30 }, (_, index) => say([first], `${secret} ${index}.`)),
    );
    const others = await Promise.all(
      Array.from({ length: 30 }, (_, index) => say([first], `no ${secret} ${index}`)),
    );
    for (const seq of seqs.slice(0, 5)) await withholdAt(first, seq);
    for (let index = 0; index < 5; index += 1) await isNowhere(`${secret} ${index}.`, folders);
    await withholdAt(second, ...seqs, ...others);
    await isNowhere(secret, folders);
  });

  await t.test('whoever withheld it may be killed meanwhile', async () => {
    const secret = `secret ${randomUUID()}`;
    const seq = await say([first], secret);
    const command = withhold(first.data, ...(await argumentsFor(first, [seq])));
    await until(
      () => withheldAt(second),
      (listed) => listed.includes(`"seq":${seq},`),
    );
    await first.kill();
    await command;
    await isNowhere(secret, [stream, second.data]);
    members[0] = await cluster.start(0);
    await isNowhere(secret, folders);
  });

  await t.test('many entries, for a long reason', async () => {
    const secret = `secret ${randomUUID()}`;
    const seqs = await Promise.all(
      Array.from({ length: 20 }, (_, index) => say([second], `${secret} ${index}`)),
    );
    const args = await argumentsFor(second, seqs, 'a long reason '.repeat(7_000));
    const { code, stdout } = await withhold(second.data, ...args);
    assert.deepEqual([code, stdout.match(/\d+ entries withheld/)?.[0]], [0, '20 entries withheld']);
    await isNowhere(secret, folders);
  });

  await t.test('what came of a large text until its gateway was killed', async () => {
    const secret = `secret ${randomUUID()}`;
    const sent = post(second.url, secret.repeat(2_000_000), randomUUID()).catch(() => {});
    await until(
      () => filesWith(stream, secret),
      (files) => files.length > 0,
    );
    await second.kill();
    await sent;
    members[1] = await cluster.start(1);
    await becomes(members[1], 'breathing');
    await isNowhere(secret, folders);
  });

  const conversation: Entry[] = [];

  await t.test('an answer within a conversation, which goes on without it', async () => {
    const at = members.map(({ url }) => new Gateway(url, { identity: randomUUID() }));
    for (const [index, text] of ['root', 'answer', 'deeper'].entries()) {
      const gateway = at[index % 2];
      assert.ok(gateway !== undefined);
      const before = conversation.at(-1);
      const said =
        before === undefined ? await gateway.leaveTrace(text) : await gateway.reply(before, text);
      await commonLog(members, said.seq);
      conversation.push(said);
    }
    // The first process of both was killed.
    await withholdAt(members[0], conversation[1]?.seq ?? 0);
    await haveThread(members, conversation);
  });

  await t.test('and a gateway that comes up from nothing has the same log', async () => {
    const third = await cluster.start(2);
    const all = [...members, third];
    await sayings.check(all);
    const said = await post(third.url, 'after all of it', randomUUID());
    await commonLog(all, said.seq ?? 0);
    await haveThread(all, conversation);
    const [withheld] = await Promise.all(all.map(withheldAt));
    for (const member of all) assert.equal(await withheldAt(member), withheld);
    assert.ok((withheld?.split('"reason"').length ?? 0) > 60);
  });
});
