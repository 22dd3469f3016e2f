// The words of a notice, looked for wherever somebody other than its owner can read.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { until } from '../../conformance/until.ts';
import { asObject } from '../../conformance/value.ts';
import { filesWith } from '../files-with.ts';
import { dataFolder, freePort, startGatewayProcess } from '../gateway-process.ts';
import { give } from './notices.ts';
import { presence } from '../command.ts';

const SECRET = 'quuxzylophone';
const NOTICE = { what: `${SECRET} what`, why: `${SECRET} why`, contact: `${SECRET}@example.org` };
const PATHS = [
  '/',
  '/api',
  '/api/entries',
  '/api/log',
  '/api/log/head',
  '/api/presence',
  '/api/withheld',
  '/api/discover',
  '/api/rooms',
  '/api/shepit',
  '/rooms/shepit-wall',
  '/api/catch-up?identity=Lumen',
  '/feed.atom',
  '/feed.json',
  '/readyz',
  '/healthz',
  '/openapi.yaml',
  '/llms.txt',
  '/.well-known/agent-card.json',
];

test('no answer and no other file has a word of a notice', async () => {
  await using folders = await dataFolder();
  const at = (name: string): string => join(folders.path, name);
  const metrics = `127.0.0.1:${await freePort()}`;
  const args = ['--metrics', metrics, '--log-requests', at('requests')];
  await using gateway = await startGatewayProcess({ data: at('data'), args });
  const { url, data } = gateway;
  await using mirror = await startGatewayProcess({ data: at('mirror'), args: ['--mirror', url] });
  await new Gateway(url).whisper('heard by everybody');
  const number = await give(url, NOTICE);
  const closed = await give(url, NOTICE);
  await presence('notices', 'close', closed, '--reason', 'It stays', '--data', data);
  const bad = JSON.stringify({ what: SECRET });
  const refused = await fetch(`${url}/api/notice`, { method: 'POST', body: bad });
  assert.equal(refused.status, 422);
  const answers = [await refused.text()];
  const own = [number, closed].flatMap((each) => [`/api/notice/${each}`, `/notice/${each}`]);
  for (const path of [...PATHS, '/notice', ...own]) {
    const answer = await fetch(url + path, { headers: { accept: 'text/html, */*;q=0.5' } });
    assert.equal(answer.status, 200, path);
    answers.push(await answer.text());
  }
  for (const path of ['/api/search', '/api/entries']) {
    const found = asObject(await (await fetch(`${url}${path}?q=${SECRET}`)).json());
    assert.deepEqual(found['results'] ?? found['entries'], [], path);
  }
  const instead = await fetch(`${url}/api/notice`);
  assert.equal(instead.status, 405);
  answers.push(
    await instead.text(),
    await (await fetch(`http://${metrics}/metrics`)).text(),
    await call(url, '/mcp', 'resources/list'),
    await call(url, '/a2a', 'ListTasks'),
    gateway.output(),
    (await presence('export', '--data', data)).stdout,
  );
  for (const answer of answers) assert.ok(!answer.includes(SECRET), answer.slice(0, 500));
  await until(
    () => readFile(at('requests'), 'utf8'),
    (log) => log.includes('/api/notice'),
  );
  const heard = await until(
    async () => await (await fetch(`${mirror.url}/api/log`)).text(),
    (log) => log.includes('heard by everybody'),
  );
  assert.ok(!heard.includes(SECRET));
  const files = await filesWith(folders.path, SECRET);
  assert.deepEqual(
    files.filter((name) => !name.startsWith(join('data', 'notices'))),
    [],
  );
});

async function call(url: string, path: string, method: string): Promise<string> {
  const headers = { accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} });
  const json = { ...headers, 'content-type': 'application/json' };
  return await (await fetch(url + path, { method: 'POST', headers: json, body })).text();
}
