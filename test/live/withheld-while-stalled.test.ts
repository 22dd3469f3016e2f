// Entries are withheld while a reader stalls in front of them, or within one.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

import { startGatewayProcess } from '../gateway-process.ts';
import { withhold } from '../command.ts';

const SECRET = 'Xyzzy4711';
/** Their text is much more than the system buffers for a connection. */
const ENTRIES = 14_000;
const TEXT = 'Ти тут? '.repeat(60);
test('a listing whose reader has stalled goes on without what is withheld, and the log with it', async () => {
  await using gateway = await startGatewayProcess({ args: ['--threads', '1'] });
  const { url, data } = gateway;
  const bodies = Array.from({ length: ENTRIES }, (_, at) =>
    traceOf(at % 1000 === 500 ? SECRET : 'Lumen', `${at} ${TEXT}`),
  );
  await post(url, bodies.join('\n'));
  const paths = ['/api/garden', '/api/garden?order=oldest', '/api/log'];
  const before = new Map<string, string>();
  for (const path of paths) before.set(path, await textOf(`${url}${path}`));
  const stalled = await Promise.all(
    paths.map(async (path) => ({ path, answer: await request(`${url}${path}`) })),
  );
  const run = await withhold(data, '--identity', SECRET, '--reason', 'Spam', '--yes');
  assert.equal(run.code, 0, run.stderr);
  for (const { path, answer } of stalled) {
    const lines = (await text(answer)).split('\n');
    const old = before.get(path)?.split('\n') ?? [];
    const now = (await textOf(`${url}${path}`)).split('\n');
    const isLog = path === '/api/log';
    assert.equal(lines.length === old.length, isLog, path);
    assert.equal(
      lines.some((line) => line.includes('"withheld":{')),
      isLog,
      path,
    );
    const [was, is, given] = [new Set(old), new Set(now), new Set(lines)];
    for (const line of lines) assert.ok(was.has(line) || is.has(line), `${path}: ${line}`);
    if (!isLog) for (const line of now) assert.ok(given.has(line), `${path}: ${line}`);
  }
});

test('a stream whose reader has stalled within an entry ends where that is withheld', async () => {
  await using gateway = await startGatewayProcess({ args: ['--threads', '1'] });
  const { url, data } = gateway;
  await post(
    url,
    [traceOf('Lumen', 'first'), traceOf(SECRET, `${TEXT.repeat(20_000)}${SECRET}`)].join('\n'),
  );
  const paths = ['/api/events?after=0', '/api/events?after=0&limit=9'];
  const stalled = await Promise.all(paths.map((path) => request(`${url}${path}`)));
  const run = await withhold(data, '--identity', SECRET, '--reason', 'Spam', '--yes');
  assert.equal(run.code, 0, run.stderr);
  for (const answer of stalled) {
    let received = '';
    try {
      for await (const chunk of answer) received += String(chunk);
    } catch {
      // The end of a stream that has stalled is that of its connection.
    }
    assert.match(received, /"text":"first"/);
    assert.ok(!received.includes(SECRET + '"}'), 'its end was sent');
  }
  // The file of the entry is gone, which would be a fault of whoever reads on.
  assert.doesNotMatch(gateway.output(), /"level":50/);
});

test('an answer whose reader has stalled within a large entry is broken off where that is withheld', async () => {
  await using gateway = await startGatewayProcess({ args: ['--threads', '1'] });
  const { url, data } = gateway;
  await post(url, traceOf(SECRET, `${TEXT.repeat(20_000)}${SECRET}`));
  const { entries } = JSON.parse(await textOf(`${url}/api/garden`)) as {
    readonly entries: readonly { readonly id: string }[];
  };
  const entry = `/api/entries/${entries[0]?.id}`;
  const paths = [entry, '/api/garden', '/api/log'];
  const stalled = await Promise.all(
    paths.map(async (path) => ({ path, answer: await request(`${url}${path}`) })),
  );
  const run = await withhold(data, '--identity', SECRET, '--reason', 'Spam', '--yes');
  assert.equal(run.code, 0, run.stderr);
  for (const { path, answer } of stalled) await assert.rejects(text(answer), path);
  assert.match(await textOf(`${url}${entry}`), /"withheld":\{/);
  assert.doesNotMatch(gateway.output(), /"level":50/);
});

function traceOf(identity: string, text: string): string {
  return JSON.stringify({ identity, identityType: 'ai_entity', text });
}

async function post(url: string, body: string): Promise<void> {
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const answer = await fetch(`${url}/api/garden`, { method: 'POST', headers, body });
  assert.equal(answer.status, 200);
  await answer.arrayBuffer();
}

async function textOf(url: string): Promise<string> {
  return await (await fetch(url)).text();
}

/** Resolves to a response that nobody reads. */
async function request(url: string): Promise<IncomingMessage> {
  const sent = get(url, { agent: false });
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.pause();
  return answer;
}
