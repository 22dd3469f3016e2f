// What operators import into Prometheus and Grafana is valid, and asks for what a gateway has.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { promisify } from 'node:util';

import { startGateway, type GatewayConfig } from '@open-presence/gateway';

import { dataFolder } from '../gateway-process.ts';
import { dashboardQueries } from './dashboard.ts';
import { type Scrape, scrape } from './scrape.ts';
import { needs } from '../needs.ts';

const run = promisify(execFile);
const DEPLOY = join(import.meta.dirname, '../../deploy');
const RULES = join(DEPLOY, 'prometheus/presence-alerts.yml');
const ALERT_TESTS = ['alerts.yml', 'alerts-of-a-month.yml'].map((name) =>
  join(import.meta.dirname, name),
);
const log = (): void => {};
const SILENT = { info: log, warn: log, error: log } as unknown as GatewayConfig['logger'];

let found: Scrape;
let queries: readonly string[];

before(async () => {
  await using folder = await dataFolder();
  const address = { host: '127.0.0.1', port: 0 };
  const options = { listen: address, metrics: address, data: folder.path, threads: 1 };
  await using gateway = await startGateway({ ...options, logger: SILENT });
  const body = JSON.stringify({ text: 'here' });
  await (await fetch(`${gateway.address}/api/shepit`, { method: 'POST', body })).arrayBuffer();
  found = await scrape(gateway.metricsUrl ?? '');
  queries = await dashboardQueries();
});

suite('promtool', needs('promtool'), () => {
  test('finds nothing wrong with the rules and the configuration', async () => {
    await run('promtool', ['check', 'rules', RULES]);
    await run('promtool', ['check', 'config', join(DEPLOY, 'prometheus/prometheus.yml')]);
  });

  test('finds that the alerts say what they should', async () => {
    await run('promtool', ['test', 'rules', ...ALERT_TESTS]);
  });

  test('tests each alert, firing and not', async () => {
    const rules = await readFile(RULES, 'utf8');
    const tests = (await Promise.all(ALERT_TESTS.map((file) => readFile(file, 'utf8')))).join('');
    const firing = tests.matchAll(/alertname: (\w+)\n *exp_alerts:\n/g);
    const silent = tests.matchAll(/alertname: (\w+),? *\n? *exp_alerts: \[\]/g);
    const alerts = rules.matchAll(/alert: (\w+)/g);
    const names = (found: Iterable<RegExpMatchArray>): readonly string[] =>
      [...new Set(Array.from(found, ([, name = '']) => name))].toSorted();
    const all = names(alerts);
    assert.deepEqual(names(firing), all);
    assert.deepEqual(names(silent), all);
  });

  test('finds nothing wrong with the metrics of a gateway', async () => {
    const checking = run('promtool', ['check', 'metrics']);
    checking.child.stdin?.end(found.text);
    const { stdout, stderr } = await checking;
    assert.equal(stdout + stderr, '');
  });

  test('can read each query of the dashboard', async () => {
    await using folder = await dataFolder();
    const rules = queries.map((query, at) => ({
      record: `query:${at}`,
      expr: query.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }));
    const file = join(folder.path, 'queries.yml');
    // JSON is YAML.
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    await run('promtool', ['check', 'rules', file]);
  });
});

suite('each query asks for metrics that a gateway has', () => {
  const isThere = (name: string): boolean => {
    const { families, text } = found;
    return families.includes(name) || new RegExp(`^${name}[{ ]`, 'm').test(text);
  };

  test('in the dashboard', () => {
    const names = queries.flatMap((query) => query.match(/\b(?:presence|process)_\w+/g) ?? []);
    assert.ok(queries.length > 20 && names.length >= queries.length);
    assert.deepEqual(
      names.filter((name) => !isThere(name)),
      [],
    );
  });

  test('in the alerts', async () => {
    const rules = await readFile(RULES, 'utf8');
    const names = rules.match(/\b(?:presence|process)_\w+/g) ?? [];
    assert.ok(names.length > 10);
    assert.deepEqual(
      names.filter((name) => !isThere(name)),
      [],
    );
  });

  test('and the dashboard shows each family of the gateway’s own', () => {
    const shown = queries.join('\n');
    const own = found.families.filter((name) => name.startsWith('presence_'));
    assert.deepEqual(
      own.filter((name) => !shown.includes(name)),
      [],
    );
  });
});
