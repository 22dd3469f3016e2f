// `presence read-only` at one gateway switches all of a cluster, also those that were down.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../conformance/until.ts';
import type { GatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { run } from '../command.ts';
import { commonLog, say, startCluster } from './members.ts';

const REASON = 'A flood is being cleared away';

async function readOnly({ data }: GatewayProcess, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run('read-only', data, ...args);
  assert.equal(code, 0, stderr);
  return stdout;
}

async function whisper(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/say/shepit?text=refused`);
  return `${answer.status} ${await answer.text()}`;
}

/** What the servers have said reaches the other gateways within seconds. */
async function refuses({ url }: GatewayProcess): Promise<void> {
  await until(
    async () => await (await fetch(`${url}/readyz`)).text(),
    (answer) => answer.includes(REASON),
  );
  assert.match(await whisper(url), /^503 .*A flood/s);
}

test(
  'one gateway makes all of its cluster read-only, and another one ends it',
  needs('nats-server'),
  async () => {
    await using cluster = await startCluster(3);
    const first = await cluster.start(0);
    const second = await cluster.start(1);
    const third = await cluster.start(2);
    await say([first, second, third], 'before');
    await third.kill();
    assert.equal(await readOnly(first, 'on', '--reason', REASON), `Read-only: ${REASON}\n`);
    await refuses(first);
    await refuses(second);
    assert.equal(await readOnly(second), `Read-only: ${REASON}\n`);
    // From its first answer on.
    const again = await cluster.start(2);
    assert.match(await whisper(again.url), /^503 .*A flood/s);
    assert.equal(await readOnly(again, 'off'), 'Entries are stored.\n');
    for (const gateway of [again, second, first]) await say([gateway], `after, at ${gateway.url}`);

    const servers = cluster.servers.servers.slice(1);
    await readOnly(first, 'on', '--reason', REASON);
    await refuses(second);
    await second.kill();
    await readOnly(again, 'off');
    for (const server of servers) await server.kill();
    await until(
      () => readOnly(first, 'on', '--reason', 'nobody hears it').catch((error: unknown) => error),
      (answer) => /its servers did not confirm it/.test(String(answer)),
    );
    for (const server of servers) server.start();
    const last = await cluster.start(1);
    const log = await commonLog([first, last, again], await say([last], 'at the end'));
    assert.equal(log.filter((entry) => entry.includes('refused')).length, 0);
  },
);
