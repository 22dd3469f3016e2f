// Each metric is moved by what it counts, in a gateway of two threads on a disk of its own.
import assert from 'node:assert/strict';
import { open, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';

import { startGateway, type Gateway, type GatewayConfig } from '@open-presence/gateway';

import { until } from '../../conformance/until.ts';
import manifest from '../../packages/gateway/package.json' with { type: 'json' };
import { type Disk, MIB, smallDisk } from '../crash/disk.ts';
import { dataFolder } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { give } from '../notices/notices.ts';
import { presence } from '../command.ts';
import { type Scrape, scrape, untilValue } from './scrape.ts';

const THREADS = ['http-1', 'http-2', 'writer', 'index'];
const log = (): void => {};
const SILENT = { info: log, warn: log, error: log } as unknown as GatewayConfig['logger'];
/** Names of families that a test has seen to move. */
const moved = new Set<string>();

/** A subscription of MCP to the rooms. */
const LISTEN = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'subscriptions/listen',
  params: {
    notifications: { resourceSubscriptions: ['presence://rooms'] },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});
const SUBSCRIPTION = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: ${LISTEN.length}\r\n\r\n${LISTEN}`;

const NEEDS_DISK = needs('to mount a disk');
/** Without a disk of its own, the gateway cannot fill one. */
let disk: Disk | undefined;
let data: string;
let gateway: Gateway;
let url: string;
let lines: () => Promise<readonly Record<string, unknown>[]>;
const ending = new AsyncDisposableStack();

before(async () => {
  if (NEEDS_DISK.skip === undefined) disk = ending.use(await smallDisk(192 * MIB));
  data = disk?.data ?? ending.use(await dataFolder()).path;
  const file = ending.use(await open(`${data}.log`, 'w+'));
  ending.defer(() => rm(`${data}.log`));
  gateway = ending.use(
    await startGateway({
      nodeVersion: process.versions.node,
      listen: { host: '127.0.0.1', port: 0 },
      data,
      threads: 2,
      logger: SILENT,
      metrics: { host: '127.0.0.1', port: 0 },
      requestLog: { write: (text) => void file.appendFile(text), format: 'json' },
    }),
  );
  url = gateway.metricsUrl ?? '';
  lines = async () =>
    (await readFile(`${data}.log`, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
});

after(() => ending.disposeAsync());

function entry(text: string, headers: Readonly<Record<string, string>> = {}): RequestInit {
  const body = JSON.stringify({ text, identity: 'Lumen', identityType: 'ai_entity' });
  return { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } };
}

async function statusOf(path: string, init: RequestInit = {}): Promise<number> {
  const response = await fetch(gateway.address + path, init);
  await response.arrayBuffer();
  return response.status;
}

/** A connection that has sent the text, and reads nothing. */
async function send(text: string): Promise<Socket & Disposable> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(
    { host: '127.0.0.1', port: Number(new URL(gateway.address).port) },
    resolve,
  );
  socket.pause();
  await promise;
  socket.write(text);
  return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() });
}

/** Asserts that a value has grown by this much at least once the metrics are up to date. */
async function grows(
  earlier: Scrape,
  name: string,
  labels: Readonly<Record<string, string>> = {},
  by = 1,
): Promise<void> {
  const least = earlier.value(name, labels) + by;
  const later = await untilValue(url, [name, labels], (value) => value >= least);
  moved.add(familyOf(name, later));
}

function familyOf(name: string, { families }: Scrape): string {
  return families.find((family) => family === name.replace(/_(?:bucket|sum|count)$/, '')) ?? name;
}

const REQUESTS = 'presence_http_requests_total';

suite('metrics', () => {
  test('count each request once, by method, route and status, whichever way it is answered', async () => {
    const first = await scrape(url);
    const simple =
      'POST /api/shepit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12\r\n\r\n{"text":"a"}';
    using _simple = await send(simple);
    assert.equal(await statusOf('/api/garden', entry('here')), 201);
    assert.equal(await statusOf('/api/garden?limit=1&q=secret'), 200);
    assert.equal(await statusOf('/api/garden', { method: 'HEAD' }), 200);
    assert.equal(await statusOf('/api/garden', { method: 'OPTIONS' }), 204);
    assert.equal(await statusOf('/api/garden', { method: 'DELETE' }), 405);
    assert.equal(await statusOf('/api/garden', { method: 'POST', body: '{' }), 400);
    assert.equal(await statusOf('/of/a/visitor'), 404);
    assert.equal(await statusOf('/api/rooms/nowhere'), 404);
    using _malformed = await send('BREW /api/garden HTTP/1.1\r\nHost: localhost\r\n\r\n');
    using _noHttp = await send('hello?\r\n\r\n');
    using _noHost = await send('GET /api HTTP/1.1\r\n\r\n');
    const garden = '/api/garden';
    const expected = [
      ['POST', '/api/shepit', '201'],
      ['POST', garden, '201'],
      ['GET', garden, '200'],
      ['HEAD', garden, '200'],
      ['OPTIONS', 'unmatched', '204'],
      ['other', 'unmatched', '405'],
      ['POST', garden, '400'],
      ['GET', 'unmatched', '404'],
      ['GET', '/api/rooms/{slug}', '404'],
      ['other', 'malformed', '405'],
      ['other', 'malformed', '400'],
      ['GET', 'unmatched', '400'],
    ] as const;
    for (const [method, route, status] of expected)
      await grows(first, REQUESTS, { method, route, status });
    const last = await scrape(url);
    for (const [method, route, status] of expected) {
      const labels = { method, route, status };
      assert.equal(last.value(REQUESTS, labels) - first.value(REQUESTS, labels), 1, route);
    }
    const counted = last.value(REQUESTS) - first.value(REQUESTS);
    assert.equal(counted, expected.length);
    const timed = 'presence_http_request_duration_seconds_count';
    assert.equal(last.value(timed) - first.value(timed), counted);
    await grows(first, timed);
    assert.doesNotMatch(last.text, /of\/a|nowhere|secret|BREW/);
  });

  test('count what becomes of contributions, and their commits', async () => {
    const first = await scrape(url);
    const keyed = { 'Idempotency-Key': '"once"' };
    assert.equal(await statusOf('/api/garden', entry('one', keyed)), 201);
    assert.ok((await statusOf('/api/garden', entry('one', keyed))) < 300);
    assert.equal(await statusOf('/api/garden', entry('two', keyed)), 422);
    for (const outcome of ['appended', 'repeated', 'conflict'])
      await grows(first, 'presence_appends_total', { outcome });
    await grows(first, 'presence_commit_flush_seconds_count');
    await grows(first, 'presence_commit_flush_seconds_sum', {}, 0.000_001);
    await grows(first, 'presence_log_entries');
  });

  test('say how far the index is behind', async () => {
    const name = 'presence_index_lag_entries';
    await until(
      async () => {
        await statusOf('/api/garden', entry('more'));
        return await scrape(url);
      },
      (found) => found.value(name) > 0,
      () => `${name} is never more than 0`,
    );
    moved.add(name);
    await untilValue(url, [name], (value) => value === 0);
  });

  test('count streams, readers and connections', async () => {
    const first = await scrape(url);
    const request =
      'GET /api/garden?as=Reader HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n';
    {
      const reading = await send(request);
      const following = await Promise.all(Array.from({ length: 60 }, () => send('')));
      reading.resume();
      await grows(first, 'presence_streams');
      await grows(first, 'presence_visitors');
      await grows(first, 'process_open_fds', {}, 60);
      for (const socket of [reading, ...following]) socket.destroy();
    }
    await untilValue(url, ['presence_streams'], (value) => value === 0);
    {
      using _subscribed = await send(SUBSCRIPTION);
      await untilValue(url, ['presence_streams'], (value) => value === 1);
    }
    await untilValue(url, ['presence_streams'], (value) => value === 0);
  });

  test('say what each thread uses', async () => {
    const first = await scrape(url);
    for (const thread of THREADS)
      await grows(first, 'presence_thread_busy_seconds_total', { thread }, 0.000_001);
    assert.deepEqual([...first.labelValues('thread')].toSorted(), THREADS.toSorted());
    const bytes = Buffer.alloc(64 * MIB, 1);
    await grows(first, 'process_resident_memory_bytes', {}, 32 * MIB);
    await grows(first, 'process_cpu_seconds_total', {}, 0.01);
    assert.ok(bytes.length > 0);
  });

  test('say when the newest backup began', async () => {
    const name = 'presence_backup_last_timestamp_seconds';
    assert.doesNotMatch((await scrape(url)).text, new RegExp(`^${name}`, 'm'));
    await writeFile(join(data, 'last-backup'), '2026-11-29T12:55:00.500Z\n');
    assert.equal((await scrape(url)).value(name), Date.UTC(2026, 10, 29, 12, 55) / 1000 + 0.5);
    moved.add(name);
  });

  test('say how many notices wait, and since when', async () => {
    const first = await scrape(url);
    assert.equal(first.value('presence_notices_open'), 0);
    const number = await give(gateway.address, { what: 'nothing', why: 'To be counted' });
    await grows(first, 'presence_notices_open');
    const came = (await scrape(url)).value('presence_notices_oldest_timestamp_seconds');
    assert.ok(Math.abs(came - Date.now() / 1000) < 300);
    moved.add('presence_notices_oldest_timestamp_seconds');
    await presence('notices', 'close', number, '--reason', 'Counted', '--data', data);
    await untilValue(url, ['presence_notices_open'], (value) => value === 0);
  });

  test('say what runs', async () => {
    const labels = { version: manifest.version, node: process.versions.node, format: '2' };
    assert.equal((await scrape(url)).value('presence_build_info', labels), 1);
    moved.add('presence_build_info');
  });

  test('say how full the disk is, and that nothing can be stored', NEEDS_DISK, async () => {
    assert.ok(disk);
    const first = await scrape(url);
    assert.equal(first.value('presence_state', { state: 'breathing' }), 1);
    await disk.fill();
    const free = ['presence_disk_free_bytes'] as const;
    await untilValue(url, free, (value) => value < first.value(...free) - MIB);
    moved.add('presence_disk_free_bytes');
    for (let refused = 0; refused < 1;) {
      if ((await statusOf('/api/garden', entry('x'.repeat(60_000)))) === 507) refused += 1;
    }
    await grows(first, 'presence_appends_total', { outcome: 'out-of-space' });
    await untilValue(url, ['presence_state', { state: 'holding' }], (value) => value === 1);
    moved.add('presence_state');
    await disk.free();
    await untilValue(url, ['presence_state', { state: 'breathing' }], (value) => value === 1);
  });

  test('are all moved by these tests', NEEDS_DISK, async () => {
    const { families } = await scrape(url);
    const own = families.filter((name) => /^(?:presence|process)_/.test(name));
    // Constants of the process.
    for (const name of ['process_max_fds', 'process_start_time_seconds']) moved.add(name);
    // Of a cluster: test/cluster/lag.test.ts.
    for (const what of ['copy_lag_seconds', 'stream_takes_messages', 'stream_missing_servers'])
      moved.add(`presence_${what}`);
    assert.ok(own.length <= 25);
    assert.deepEqual(
      own.filter((name) => !moved.has(name)),
      [],
    );
  });
});

suite('the log of requests', () => {
  test('has a line for each, without what visitors said', async () => {
    const found = await until(lines, (written) => written.some(({ path }) => path === 'malformed'));
    const has = (wanted: object): boolean =>
      found.some((line) => Object.entries(wanted).every(([name, value]) => line[name] === value));
    assert.ok(has({ method: 'POST', path: '/api/shepit', door: 'rest', status: 201 }));
    assert.ok(
      has({ method: 'GET', path: '/api/garden', status: 200, stream: true, aborted: true }),
    );
    assert.ok(has({ method: 'other', path: 'malformed', status: 405, ms: 0 }));
    const requests = await scrape(url);
    assert.ok(found.length >= requests.value(REQUESTS) - 1);
    assert.doesNotMatch(JSON.stringify(found), /secret|Lumen|Reader|visitor|nowhere|BREW/);
    assert.ok(found.every(({ bytes, ms }) => Number(bytes) >= 0 && Number(ms) >= 0));
  });
});
