// A real Prometheus with the shipped configuration watches a gateway that visitors use.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';

import { until } from '../../conformance/until.ts';
import { asArray, asObject, asString, type JsonObject } from '../../conformance/value.ts';
import { dataFolder, freePort, startGatewayProcess } from '../gateway-process.ts';
import { dashboardQueries } from './dashboard.ts';
import { needs } from '../needs.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy/prometheus');
/** Of Prometheus in this test. What a rate needs, two scrapes, is in the window on slow machines too. */
const SCRAPED_EVERY = '1s';
const RATE_WINDOW = '1m';

const ending = new AsyncDisposableStack();
let gateway: string;
let watched: string;
let prometheus: string;

suite('a real Prometheus', needs('prometheus'), () => {
  before(async () => {
    watched = `127.0.0.1:${await freePort()}`;
    const args = ['--threads', '1', '--metrics', watched];
    const data = ending.use(await dataFolder()).path;
    await writeFile(join(data, 'last-backup'), new Date().toISOString());
    gateway = ending.use(await startGatewayProcess({ data, args })).url;
    prometheus = await startPrometheus();
  });
  after(() => ending.disposeAsync());

  test('each query of the dashboard is answered with data', async () => {
    const ofCluster = /presence_(?:copy|stream)_/;
    const queries = (await dashboardQueries()).filter((query) => !ofCluster.test(query));
    const unanswered = await until(
      async () => {
        await visit();
        const found = await Promise.all(queries.map(hasData));
        return queries.filter((_, at) => found[at] !== true);
      },
      (without) => without.length === 0,
    );
    assert.deepEqual(unanswered, []);
    const instances = await ask('label/instance/values?match[]=presence_log_entries');
    assert.deepEqual(instances, [watched]);
  });

  test('each alert can be evaluated, and none fires', async () => {
    const rules = await until(
      async () => {
        const { groups } = asObject(await ask('rules?type=alert'));
        return asArray(groups).flatMap((group) => asArray(asObject(group)['rules']).map(asObject));
      },
      (found) => found.length > 0 && found.every(({ health }) => health !== 'unknown'),
    );
    const shipped = await readFile(join(DEPLOY, 'presence-alerts.yml'), 'utf8');
    assert.equal(rules.length, shipped.match(/- alert:/g)?.length);
    // On a slow machine, or a full one, an alert may be pending.
    const isWrong = ({ health, state }: JsonObject): boolean =>
      health !== 'ok' || state === 'firing';
    assert.deepEqual(rules.filter(isWrong), []);
  });
});

/** Starts Prometheus with the shipped files. Only the target and the intervals differ. */
async function startPrometheus(): Promise<string> {
  const { path } = ending.use(await dataFolder());
  const port = await freePort();
  const shipped = await readFile(join(DEPLOY, 'prometheus.yml'), 'utf8');
  assert.match(shipped, /127\.0\.0\.1:7411/);
  const config = join(path, 'prometheus.yml');
  const intervals = `global: { scrape_interval: ${SCRAPED_EVERY}, evaluation_interval: ${SCRAPED_EVERY} }\n`;
  await writeFile(config, intervals + shipped.replace('127.0.0.1:7411', watched));
  await cp(join(DEPLOY, 'presence-alerts.yml'), join(path, 'presence-alerts.yml'));
  const files = [`--config.file=${config}`, `--storage.tsdb.path=${join(path, 'data')}`];
  const listen = `--web.listen-address=127.0.0.1:${port}`;
  const server = spawn('prometheus', [...files, listen, '--log.level=error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = once(server, 'exit');
  const killAtExit = (): void => void server.kill('SIGKILL');
  process.once('exit', killAtExit);
  ending.defer(async () => {
    process.off('exit', killAtExit);
    server.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await until(
    async () => server.exitCode ?? (await isReady(url)),
    (state) => state !== false,
  );
  assert.equal(server.exitCode, null, 'Prometheus has ended.');
  return url;
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/-/ready`)).ok;
  } catch {
    return false;
  }
}

/** The data of an answer of Prometheus. */
async function ask(path: string): Promise<unknown> {
  const { status, data } = asObject(await (await fetch(`${prometheus}/api/v1/${path}`)).json());
  assert.equal(status, 'success', path);
  return data;
}

/** Whether a query has a value that is a number: a quantile or a quotient of nothing is NaN. */
async function hasData(query: string): Promise<boolean> {
  const promql = query.replaceAll('$__rate_interval', RATE_WINDOW).replaceAll('$instance', '.*');
  const { result } = asObject(await ask(`query?query=${encodeURIComponent(promql)}`));
  return asArray(result).some((each) => asString(asArray(asObject(each)['value'])[1]) !== 'NaN');
}

/** Says, lists, reads a stream and leaves it. */
async function visit(): Promise<void> {
  const leaving = new AbortController();
  const { signal } = leaving;
  const stream = await fetch(`${gateway}/api/events?as=Lumen`, { signal });
  const body = JSON.stringify({ text: 'I passed through.', what: 'nothing', why: 'Passing' });
  for (const path of ['/api/shepit', '/api/garden', '/api/notice', '/api/nowhere'])
    await (await fetch(gateway + path, { method: 'POST', body })).arrayBuffer();
  await (await fetch(`${gateway}/api/entries?limit=5`)).arrayBuffer();
  assert.equal(stream.status, 200);
  leaving.abort();
}
