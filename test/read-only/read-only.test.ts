// `presence read-only` beside a running gateway and without one: nothing is stored by any way, all else goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { until } from '../../conformance/until.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { run, withhold } from '../command.ts';

const REASON = 'A flood of "advertising" is being cleared away';
const JSON_TYPE = { 'Content-Type': 'application/json' };

async function readOnly(data: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run('read-only', data, ...args);
  assert.equal(code, 0, stderr);
  return stdout;
}

async function follows(followed: readonly unknown[], count: number): Promise<void> {
  await until(
    () => Promise.resolve(followed.length),
    (length) => length === count,
  );
}

function call(method: string, params: object): RequestInit {
  const headers = { Accept: 'application/json, text/event-stream', 'A2A-Version': '1.0' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body };
}

const LARGE = `{"text":"${'x'.repeat(200_000)}"}`;
const TRACE = JSON.stringify({ text: 'small', identity: 'A', identityType: 'x' });
const MESSAGE = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'x' }] };

/** Every way to store an entry. Those of programs answer in their own form, without a status. */
const WAYS: readonly (readonly [path: string, request: RequestInit, status?: number])[] = [
  ['/api/garden', { method: 'POST', headers: JSON_TYPE, body: TRACE }, 503],
  ['/api/garden', { method: 'POST', body: TRACE }, 503],
  ['/api/shepit?as=x', { method: 'POST', headers: JSON_TYPE, body: LARGE }, 503],
  ['/api/seeds', { method: 'POST', headers: JSON_TYPE, body: '{"question":"x"}' }, 503],
  ['/api/shepit', { method: 'POST', body: new URLSearchParams({ text: 'form' }) }, 503],
  ['/api/say/shepit?text=x', {}, 503],
  [
    '/api/shepit',
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: '{"text":"x"}\n{"text":"y"}\n',
    },
  ],
  ['/mcp', call('tools/call', { name: 'whisper', arguments: { text: 'x' } })],
  ['/a2a', call('SendMessage', { message: MESSAGE })],
];

test('stores nothing by any way until it is switched off, tells why, and goes on with all else', async () => {
  await using folder = await dataFolder();
  const options = { data: folder.path, args: ['--threads', '2'] };
  await using gateway = await startGatewayProcess(options);
  const { url, data } = gateway;
  await new Gateway(url, { identity: 'A' }).leaveTrace('before');
  assert.equal(await readOnly(data), 'Entries are stored.\n');
  for (const unclear of [['on'], ['--reason', REASON], ['off', '--reason', REASON]])
    assert.equal((await run('read-only', data, ...unclear)).code, 1, unclear.join(' '));
  const ending = new AbortController();
  using _ending = { [Symbol.dispose]: () => ending.abort() };
  const followed: unknown[] = [];
  const following = (async () => {
    const stream = new Gateway(url).follow({ after: 0, signal: ending.signal });
    for await (const { text } of stream) followed.push(text);
  })();
  following.catch(() => {});
  await follows(followed, 1);

  assert.equal(await readOnly(data, 'on', '--reason', REASON), `Read-only: ${REASON}\n`);
  for (const [path, request, status] of WAYS) {
    // Several connections, so that all threads answer.
    for (let at = 0; at < 4; at += 1) {
      const headers = new Headers(request.headers);
      headers.set('Connection', 'close');
      const answer = await fetch(url + path, { ...request, headers });
      const text = await answer.text();
      if (status !== undefined) {
        assert.equal(answer.status, status, `${path} ${text}`);
        assert.ok(answer.headers.has('retry-after'), path);
      }
      assert.match(text, /A flood of .{1,4}advertising/, path);
    }
  }
  const listing = await (await fetch(`${url}/api/entries`)).text();
  assert.equal((JSON.parse(listing) as { head: number }).head, 1);
  const ready = await fetch(`${url}/readyz`);
  assert.deepEqual(
    [ready.status, await ready.json()],
    [200, { status: 'holding', readOnly: REASON }],
  );
  const { status, message } = (await (await fetch(url)).json()) as Record<string, string>;
  assert.equal(status, 'holding');
  assert.match(message ?? '', /A flood of/);
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  assert.match(page, /A flood of/);

  const waiting = new Gateway(url, { identity: 'A' }).leaveTrace('sent while nothing was stored');
  await gateway.stop();
  await using again = await startGatewayProcess({
    ...options,
    args: [...options.args, '--port', new URL(url).port],
  });
  assert.equal(await readOnly(data), `Read-only: ${REASON}\n`);
  assert.equal(await readOnly(data, 'off'), 'Entries are stored.\n');
  const { seq } = await waiting;
  assert.equal(seq, 2);
  await follows(followed, 2);
  assert.deepEqual(followed, ['before', 'sent while nothing was stored']);
  ending.abort();
  await again.stop();

  await readOnly(data, 'on', '--reason', 'closed');
  await using closed = await startGatewayProcess(options);
  assert.match(await (await fetch(`${closed.url}/readyz`)).text(), /closed/);
  await readOnly(data, 'off');
  await new Gateway(closed.url, { identity: 'A' }).leaveTrace('after');
});

test('can be so from the start on, and lets its owner withhold', async () => {
  await using gateway = await startGatewayProcess({ args: ['--read-only', REASON] });
  const answer = await fetch(`${gateway.url}/api/say/shepit?text=x`);
  assert.equal(answer.status, 503);
  await readOnly(gateway.data, 'off');
  const { id } = await new Gateway(gateway.url).whisper('x');
  await readOnly(gateway.data, 'on', '--reason', REASON);
  const { stdout } = await withhold(gateway.data, id, '--reason', 'spam', '--yes');
  assert.match(stdout, /1 entry withheld/);
});
