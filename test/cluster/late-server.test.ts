// A server that was down when a gateway started is checked when it comes.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';

import { until } from '../../conformance/until.ts';
import { becomes, post, Sayings, startCluster } from './members.ts';
import { needs } from '../needs.ts';

test(
  'nothing is stored while a server runs that could lose it, and reading goes on',
  needs('nats-server'),
  async () => {
    await using cluster = await startCluster(3);
    const [late] = cluster.servers.servers;
    assert.ok(late);
    // A stream is made while all servers run.
    await (await cluster.start(0)).stop();
    // Perhaps the one that leads: the gateway waits for another one.
    await late.kill();
    const gateway = await cluster.start(0);
    assert.match(gateway.output(), /their settings are checked when they store again/);
    await becomes(gateway, 'breathing');
    const sayings = new Sayings();
    await sayings.say([gateway], 0, 5);

    const right = await readFile(late.file, 'utf8');
    await writeFile(late.file, right.replace('sync_interval: always', 'sync_interval: 2m'));
    late.start();
    await until(
      async () => gateway.output(),
      (output) => /Set \\"sync_interval: always\\"/.test(output),
    );
    await becomes(gateway, 'holding');
    assert.equal((await post(gateway.url, 'refused', 'key')).status, 503);
    await sayings.check([gateway]);

    await late.stop();
    await writeFile(late.file, right);
    late.start();
    await becomes(gateway, 'breathing');
    await sayings.say([gateway], 5, 5);
    await sayings.check([gateway]);
  },
);
