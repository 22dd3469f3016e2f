// A gateway of a cluster tells how far its copy is behind.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../conformance/until.ts';
import { measureLag } from '../../packages/cluster/src/applying/copy-lag.ts';
import { SharedState } from '../../packages/gateway/src/store/shared-state.ts';
import { dataFolder, freePort, startGatewayProcess } from '../gateway-process.ts';
import { untilValue } from '../watch/scrape.ts';
import { linkTo } from './held-link.ts';
import { say, Sayings, startCluster } from './members.ts';
import { needs } from '../needs.ts';

const SECONDS = 'presence_copy_lag_seconds';
const MISSING = 'presence_stream_missing_servers';
const TAKES = 'presence_stream_takes_messages';

test(
  'a gateway that hears nothing of the servers says since when, until it has caught up',
  needs('nats-server'),
  async () => {
    await using cluster = await startCluster(1);
    const [server] = cluster.servers.servers;
    await using link = await linkTo(server?.address ?? '');
    await using folder = await dataFolder();
    const metrics = `127.0.0.1:${await freePort()}`;
    await using behind = await startGatewayProcess({
      data: folder.path,
      args: ['--threads', '1', '--metrics', metrics, '--log', link.url],
    });
    const url = `http://${metrics}/metrics`;
    const ahead = await cluster.start(0);
    const sayings = new Sayings();
    await sayings.say([ahead, behind], 0, 10);
    const held = (await untilValue(url, [SECONDS], (seconds) => seconds < 8)).value(SECONDS);
    link.hold();
    await sayings.say([ahead], 10, 10);
    await untilValue(url, [SECONDS], (seconds) => seconds > Math.max(8, held));
    link.release();
    await untilValue(url, [SECONDS], (seconds) => seconds < 8);
    await sayings.check([ahead, behind]);
  },
);

test(
  'a copy is complete once it has what the stream had when it was asked',
  needs('nats-server'),
  async () => {
    const shared = new SharedState();
    const ending = new AbortController();
    let [last, applied] = [10, 4];
    const copy = { lastOfStream: async () => last, applied: () => applied };
    const measuring = measureLag(copy, shared, ending.signal);
    const behind = async (): Promise<number> => shared.messagesBehind;
    const become = (count: number): Promise<number> =>
      until(
        behind,
        (found) => found === count,
        (found) => `${found} are missing, not ${count}`,
      );
    await become(6);
    assert.equal(shared.completeAt, 0);
    [last, applied] = [30, 10];
    await become(20);
    assert.ok(shared.completeAt > 0);
    last = applied;
    await become(0);
    ending.abort();
    await measuring;
  },
);

test(
  'a gateway counts the servers that do not have all, and tells when the stream takes nothing',
  needs('nats-server'),
  async () => {
    await using cluster = await startCluster(3);
    const metrics = `127.0.0.1:${await freePort()}`;
    const args = ['--threads', '1', '--metrics', metrics, '--log', cluster.servers.url];
    await using gateway = await startGatewayProcess({ args });
    const url = `http://${metrics}/metrics`;
    const [first, second] = cluster.servers.servers;
    await untilValue(url, [MISSING], (count) => count === 0);
    await untilValue(url, [TAKES], (takes) => takes === 1);
    await first?.kill();
    await untilValue(url, [MISSING], (count) => count === 1);
    await untilValue(url, [TAKES], (takes) => takes === 1);
    await second?.kill();
    await untilValue(url, [MISSING], (count) => count === 2);
    // Storing tells: nobody has to be told while nothing is said.
    const saying = say([gateway], 'while most servers are down');
    await untilValue(url, [TAKES], (takes) => takes === 0);
    first?.start();
    second?.start();
    await saying;
    await untilValue(url, [TAKES], (takes) => takes === 1);
    await untilValue(url, [MISSING], (count) => count === 0);
  },
);
