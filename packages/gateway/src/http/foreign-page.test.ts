import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { bodyIn, openGateway, statusesIn, type TestGateway } from '../gateway.fixture.ts';
import { openMemoryLog } from '../../../../test/support/memory-log/memory-log.ts';

const ELSEWHERE = 'http://elsewhere.example';
const LINK = {
  'Sec-Fetch-Site': 'cross-site',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Dest': 'document',
};
const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

type Sent = readonly [method: string, path: string, headers: Readonly<Record<string, string>>];

/** What programs, people and pages of this machine send. */
const OWN: readonly Sent[] = [
  ['GET', '/api/garden', {}],
  ['GET', '/api/garden', { Host: 'localhost' }],
  ['GET', '/api/garden', { Host: 'presence.localhost:81' }],
  ['GET', '/api/garden', { Host: '[::1]:7410' }],
  ['GET', '/api/garden', { Host: '192.0.2.7' }],
  ['POST', '/api/shepit', { Origin: 'http://localhost:6274', Host: 'localhost' }],
  ['POST', '/api/shepit', { Origin: 'http://[::1]:80', 'Sec-Fetch-Site': 'cross-site' }],
  ['POST', '/mcp', { Origin: 'http://127.0.0.2', Host: '127.0.0.2' }],
  ['GET', '/api/say/shepit?text=a', { 'Sec-Fetch-Site': 'same-origin' }],
  ['GET', '/api/say/shepit?text=a', { 'Sec-Fetch-Site': 'none' }],
  ['POST', '/api/shepit', { Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }],
  ['OPTIONS', '/api/garden', { Origin: 'http://localhost:3000' }],
  ['GET', '/', LINK],
  ['HEAD', '/api/garden', LINK],
];

/** What a page of another site makes a browser send. */
const FOREIGN: readonly Sent[] = [
  ['GET', '/api/garden', { Origin: ELSEWHERE }],
  ['GET', '/api/garden', { Origin: 'null' }],
  ['POST', '/api/shepit', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }],
  ['POST', '/api/shepit', { Origin: 'null', 'Sec-Fetch-Site': 'same-site' }],
  ['GET', '/api/garden', { Origin: 'http://127.0.0.1.elsewhere.example' }],
  ['GET', '/', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }],
  ['GET', '/', { ...LINK, 'Sec-Fetch-Dest': 'iframe' }],
  ['GET', '/api/say/shepit?text=a', LINK],
  ['GET', '/api/say/shepit/?text=a', LINK],
  ['GET', '/api/say/shepit?text=a', { 'Sec-Fetch-Site': 'cross-site' }],
  ['POST', '/api/shepit', { Origin: ELSEWHERE }],
  ['POST', '/api/shepit', { Origin: ELSEWHERE, 'Content-Type': 'text/plain' }],
  ['POST', '/api/shepit', { ...LINK, Origin: ELSEWHERE }],
  ['POST', '/mcp', { Origin: ELSEWHERE }],
  ['POST', '/a2a', { Origin: ELSEWHERE }],
  ['OPTIONS', '/api/garden', { Origin: ELSEWHERE, 'Access-Control-Request-Method': 'POST' }],
  ['GET', '/api/garden', { Host: 'elsewhere.example' }],
  ['GET', '/api/entries', { Host: 'elsewhere.example:7410', 'Sec-Fetch-Site': 'same-origin' }],
  ['POST', '/api/shepit', { Host: 'elsewhere.example', Origin: ELSEWHERE }],
  ['GET', '/nowhere', { Origin: ELSEWHERE }],
];

async function send(door: TestGateway, [method, path, headers]: Sent): Promise<string> {
  const body = method !== 'POST' ? '' : path === '/mcp' ? LIST : '{"text":"a"}';
  const lines = Object.entries({ Host: 'localhost', 'Content-Length': body.length, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const head = `${method} ${path} HTTP/1.1\r\n${lines}`;
  // The second one as the only thing in its packet, which may bypass `node:http`.
  const answer = await door.sendRaw(`${head}Connection: close\r\n\r\n${body}`);
  const simple = await door.sendRaw(`${head}\r\n${body}`, /\r\n\r\n/);
  assert.deepEqual(statusesIn(simple), statusesIn(answer), head);
  return answer;
}

async function entriesIn(door: TestGateway): Promise<number> {
  const { head } = (await (await fetch(`${door.url}/api/discover`)).json()) as { head: number };
  return head;
}

suite('a gateway that only its own machine can reach', () => {
  test('answers programs, people and pages of this machine', async () => {
    await using door = await openGateway(openMemoryLog());
    for (const sent of OWN) {
      const answer = await send(door, sent);
      assert.match(answer, /^HTTP\/1\.1 20[014] /, JSON.stringify(sent));
      assert.match(answer, /^Access-Control-Allow-Origin: \*\r$/m, JSON.stringify(sent));
    }
  });

  test('answers no page of another site, at no door, and stores nothing of it', async () => {
    await using door = await openGateway(openMemoryLog());
    for (const sent of FOREIGN) {
      const answer = await send(door, sent);
      assert.match(answer, /^HTTP\/1\.1 403 /, JSON.stringify(sent));
      assert.doesNotMatch(answer, /access-control-allow/i, JSON.stringify(sent));
      assert.match(answer, /^Content-Security-Policy: default-src 'none'/m, JSON.stringify(sent));
      assert.equal(bodyIn(answer)['code'], 'foreign-page', JSON.stringify(sent));
    }
    assert.equal(await entriesIn(door), 0);
  });

  test('answers none while it starts', async () => {
    await using door = await openGateway(openMemoryLog(), { starting: true });
    assert.match(await send(door, ['GET', '/', { Origin: ELSEWHERE }]), /^HTTP\/1\.1 403 /);
  });

  test('answers pages of all sites once it has a public address', async () => {
    const publicUrl = 'https://presence.example';
    await using door = await openGateway(openMemoryLog(), { publicUrl });
    for (const sent of FOREIGN) {
      if (sent[1] === '/mcp') continue;
      const answer = await send(door, sent);
      assert.doesNotMatch(answer, /^HTTP\/1\.1 403 /, JSON.stringify(sent));
      assert.match(answer, /^Access-Control-Allow-Origin: \*\r$/m, JSON.stringify(sent));
    }
  });
});
