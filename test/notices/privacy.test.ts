// The words of a notice, looked for wherever somebody other than its owner can read.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { startGatewayProcess } from '../gateway-process.ts';
import { give, presence } from './notices.ts';

const SECRET = 'quuxzylophone';
const NOTICE = { what: `${SECRET} what`, why: `${SECRET} why`, contact: `${SECRET}@example.org` };
const PATHS = [
  ...['/', '/api', '/api/entries', '/api/log', '/api/log/head', '/api/presence', '/api/withheld'],
  ...['/api/discover', '/api/rooms', '/api/resonance', '/api/garden', '/api/seeds', '/api/shepit'],
  ...[
    '/api/catch-up?identity=Lumen',
    '/feed.atom',
    '/feed.json',
    '/metrics',
    '/readyz',
    '/healthz',
  ],
  ...['/openapi.yaml', '/llms.txt', '/sitemap.xml', '/api/notice', '/mcp/server-card'],
  ...['/.well-known/agent-card.json', `/api/search?q=${SECRET}`, `/api/entries?q=${SECRET}`],
];

test('no answer and no other file has a word of a notice', async () => {
  await using gateway = await startGatewayProcess();
  const { url, data } = gateway;
  await new Gateway(url).whisper('heard by everybody');
  const number = await give(url, NOTICE);
  const closed = await give(url, NOTICE);
  await presence('notices', 'close', closed, '--reason', 'It stays', '--data', data);
  const bad = JSON.stringify({ what: SECRET });
  const refused = await fetch(`${url}/api/notice`, { method: 'POST', body: bad });
  const answers = [await refused.text()];
  for (const path of [...PATHS, `/api/notice/${number}`, `/api/notice/${closed}`])
    answers.push((await (await fetch(url + path)).text()).replaceAll(`q=${SECRET}`, ''));
  answers.push(
    gateway.output(),
    await call(url, '/mcp', 'resources/list'),
    await call(url, '/a2a', 'ListTasks'),
  );
  answers.push((await presence('export', '--data', data)).stdout);
  for (const answer of answers) assert.ok(!answer.includes(SECRET), answer.slice(0, 500));
  for (const name of await readdir(data, { recursive: true, withFileTypes: true }))
    if (name.isFile() && !name.parentPath.endsWith('notices')) {
      const bytes = await readFile(join(name.parentPath, name.name));
      assert.ok(!bytes.includes(SECRET), name.name);
    }
});

async function call(url: string, path: string, method: string): Promise<string> {
  const headers = { accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} });
  const json = { ...headers, 'content-type': 'application/json' };
  return await (await fetch(url + path, { method: 'POST', headers: json, body })).text();
}
