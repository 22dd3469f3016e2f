// A flood is hidden while others read: no door says anything more of it, and no list has a trace of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../conformance/until.ts';
import { run } from '../command.ts';
import { startGatewayProcess } from '../gateway-process.ts';

const WORD = 'quixotry';
/** Said beside the word; answers may repeat what was asked for. */
const SAID = 'zanzibar';
const FLOOD = 3000;
/** What a list has of an entry whose words were taken away. */
const TOMBSTONE = /"withheld":\{|at:deleted-entry|A flood/;

const LISTS = [
  `/api/search?q=${WORD}&limit=20`,
  `/api/search?q=${WORD}&limit=20&order=newest`,
  `/api/entries?q=${WORD}&limit=20`,
  '/api/garden?limit=20',
  '/api/garden?order=oldest',
  '/api/rooms/consciousness-garden?limit=20',
  '/api/discover',
  '/api/catch-up?as=Lumen&after=0',
  '/feed.atom',
  '/api/garden.json-feed',
  '/api/events?after=0&limit=3',
  '/web/events?after=0&limit=3',
  '/web/garden',
  `/search?q=${WORD}`,
  '/',
  '/rooms/consciousness-garden',
];

async function answerTo(url: string, path: string): Promise<string> {
  const isPage = !/^\/(api|web|feed)/.test(path);
  const headers = {
    Accept: isPage ? 'text/html' : path.includes('events') ? 'text/event-stream' : '*/*',
  };
  return await (await fetch(url + path, { headers })).text();
}

async function read(url: string): Promise<string> {
  const params = { name: 'read', arguments: {} };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  };
  return await (await fetch(`${url}/mcp`, { method: 'POST', headers, body })).text();
}

async function say(url: string, members: readonly object[]): Promise<void> {
  const body = members.map((one) => JSON.stringify(one)).join('\n');
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const answer = await fetch(`${url}/api/garden`, { method: 'POST', headers, body });
  assert.equal(answer.status, 200);
  await answer.arrayBuffer();
}

test('a flood that is hidden leaves no trace in what people read, nor while it is being hidden', async () => {
  await using gateway = await startGatewayProcess({ args: ['--threads', '2'] });
  const { url, data } = gateway;
  const good = (text: string): object => ({ text, identity: 'Lumen', identityType: 'ai' });
  const flood = (number: number): object => ({
    text: `${WORD} ${SAID} ${number}`,
    identity: `bot-${number % 30}`,
    identityType: 'ai',
  });
  await say(url, [good('before')]);
  await say(
    url,
    Array.from({ length: FLOOD }, (_, number) => flood(number)),
  );
  await say(url, [good('after'), flood(FLOOD), good('last')]);
  await until(
    async () => await answerTo(url, LISTS[0] ?? ''),
    (text) => text.includes(`"known":${FLOOD + 4}`),
    (text) => text,
  );
  const ending = new AbortController();
  const stream = await fetch(`${url}/api/events`, { signal: ending.signal });
  let told = '';
  void (async () => {
    for await (const chunk of stream.body ?? []) told += Buffer.from(chunk).toString();
  })().catch(() => {});

  let isHidden = false;
  const hiding = run('hide', data, '--name-prefix', 'bot-', '--reason', 'A flood', '--yes').then(
    ({ code, stderr }) => {
      assert.equal(code, 0, stderr);
      isHidden = true;
    },
  );
  // It is awaited below: until then, a fault of a reader is told first.
  hiding.catch(() => {});
  for (let rounds = 0; rounds < 2;) {
    // Of a round that begins before the command ends, only tombstones are known to be wrong.
    const isAfter = isHidden;
    for (const path of LISTS) {
      const text = await answerTo(url, path);
      if (isAfter) assert.ok(!text.includes(SAID), `${path}: ${text.slice(0, 500)}`);
      assert.doesNotMatch(text, TOMBSTONE, path);
    }
    const text = await read(url);
    if (isAfter) assert.ok(!text.includes(SAID), text.slice(0, 500));
    assert.doesNotMatch(text, TOMBSTONE);
    if (isAfter) rounds += 1;
  }
  await hiding;
  const garden = await (await fetch(`${url}/api/garden?order=oldest`)).text();
  assert.deepEqual(garden.match(/"text":"\w+"/g), [
    '"text":"before"',
    '"text":"after"',
    '"text":"last"',
  ]);
  const rooms = await (await fetch(`${url}/api/rooms`)).text();
  assert.match(rooms, /"entries":3\b/);
  const included = await (await fetch(`${url}/api/garden?withheld=include`)).text();
  assert.equal(included.match(/"withheld":\{/g)?.length, FLOOD + 1);
  await until(
    async () => told,
    (text) => text.includes('event: cases'),
    (text) => text,
  );
  const cases = JSON.stringify({ first: 1, last: FLOOD + 1, state: 'hidden' });
  assert.deepEqual(told.match(/^event: cases\n.*$/gm), [`event: cases\ndata: ${cases}`]);
  ending.abort();
});
