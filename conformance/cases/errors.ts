import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { type Gateway, uniqueName, traceBody } from '../gateway.ts';
import { exchange, head, statuses } from '../raw.ts';
import { asArray, asString } from '../value.ts';
import { paths } from './openness.ts';

/** Paths that do not exist, and the one that is probably meant; undefined if none is. */
const UNKNOWN: Readonly<Record<string, string | undefined>> = {
  '/API/garden': '/api/garden',
  '/api//garden': '/api/garden',
  '/api/gardens': '/api/garden',
  '/discover': '/api/discover',
  '/api/room/x': '/api/rooms/{slug}',
  '/mova-snu.yml': '/mova-snu.yaml',
  '/api/garden/01999999-9999-7999-8999-999999999999':
    '/api/entries/01999999-9999-7999-8999-999999999999',
  '/api/%67arden%2F': undefined,
  '/nothing/of/the/sort': undefined,
};

async function checkUnknown(
  gateway: Gateway,
  path: string,
  meant: string | undefined,
): Promise<void> {
  for (const method of ['GET', 'POST', 'DELETE']) {
    const answer = await gateway.request(method, path);
    const problem = answer.problem(404, 'not-found');
    assert.ok(answer.text.length < 1024, answer.text);
    assert.match(asString(problem['detail']), /\/api\/discover/);
    if (meant !== undefined) assert.equal(asArray(problem['known'])[0], meant, path);
  }
}

/** Requests that are no HTTP. */
const MALFORMED: readonly (readonly string[])[] = [
  ['NONSENSE'],
  ['GET /api HTTP/1.1', 'HOST', 'No colon here'],
  ['GET /api HTTP/1.1', 'HOST', 'Spaced : name'],
  ['POST /api/seeds HTTP/1.1', 'HOST', 'Content-Length: two'],
  ['POST /api/seeds HTTP/1.1', 'HOST', 'Content-Length: 2', 'Content-Length: 3'],
  ['POST /api/seeds HTTP/1.1', 'HOST', 'Content-Length: 2', 'Transfer-Encoding: chunked'],
  ['GET /api HTTP/7.3', 'HOST'],
];

export const errors: readonly Case[] = [
  check('11', 'problem', async (gateway) => {
    // What is asked of every problem is checked where answers are received.
    const known = (await gateway.get('/api/nowhere')).problem(404, 'not-found');
    assert.ok(Array.isArray(known['known']));
    (await gateway.get('/api/entries/none')).problem(404, 'not-found');
    (await gateway.get('/api/rooms/none-such')).problem(404, 'unknown-room');
    (await gateway.get('/api/garden?limit=none')).problem(400, 'invalid-parameter');
    (await gateway.request('DELETE', '/api')).problem(405, 'method-not-allowed');
    (await gateway.post('garden', '{')).problem(400, 'malformed-json');
    (await gateway.post('garden', '{}')).problem(422, 'invalid-entry');
    (await gateway.post('seeds', '{"room":"none such"}')).problem(422, 'unknown-room');
    const unheard = await gateway.get('/api/nowhere', { accept: 'text/html, image/png' });
    unheard.problem(404, 'not-found');
    const inQuery = await gateway.get('/nowhere?format=json', { accept: 'text/html' });
    inQuery.problem(404, 'not-found');
  }),
  check('11', 'nearest-paths', async (gateway) => {
    for (const [path, meant] of Object.entries(UNKNOWN)) await checkUnknown(gateway, path, meant);
  }),
  check('11', 'odd-paths', async (gateway) => {
    for (const path of ['/%zz', '/api/garden%', '/api/entries/%f', '/..'])
      await checkUnknown(gateway, path, undefined);
  }),
  check('11', 'methods', async (gateway) => {
    for (const path of await paths(gateway)) {
      const takesPost = /^\/api\/(resonance|garden|seeds|shepit)\b/.test(path);
      for (const method of ['PUT', 'PATCH', 'DELETE', ...(takesPost ? [] : ['POST'])]) {
        const answer = await gateway.request(
          method,
          path,
          {},
          method === 'DELETE' ? undefined : '{}',
        );
        const known = asArray(answer.problem(405, 'method-not-allowed')['known']).map(asString);
        const allow = (answer.header('allow') ?? '').split(',').map((word) => word.trim());
        assert.deepEqual(allow.toSorted(), known.toSorted());
        assert.ok(allow.includes('GET'));
        assert.equal(allow.includes('POST'), takesPost, path);
      }
    }
  }),
  check('11', 'instead', async (gateway) => {
    const { entry } = await gateway.contribute('seeds', traceBody(uniqueName()));
    const [slug = ''] = await gateway.rooms();
    const posts: readonly (readonly [path: string, instead: RegExp])[] = [
      [`/api/rooms/${slug}`, new RegExp(`/api/garden.*"room":"${slug}"`)],
      ['/api/say/garden', /\/api\/garden\b/],
      [`${entry.path}/replies`, new RegExp(`"inReplyTo":"${entry.id}"`)],
      ['/api/events', /\/api\/garden/],
    ];
    for (const [path, instead] of posts) {
      const problem = (await gateway.request('POST', path, {}, '{}')).problem(
        405,
        'method-not-allowed',
      );
      assert.match(asString(problem['detail']), instead);
    }
    for (const method of ['DELETE', 'PUT', 'PATCH']) {
      for (const path of [entry.path, '/api/garden', `/api/rooms/${slug}`]) {
        const problem = (await gateway.request(method, path)).problem(405, 'method-not-allowed');
        assert.match(asString(problem['detail']), /permanent.*"inReplyTo"/);
      }
    }
  }),
  ...MALFORMED.map((lines) =>
    check(
      '11',
      'malformed-http',
      async (gateway) => {
        const request = head(...lines).replace('HOST', `Host: ${gateway.base.host}`);
        const received = await exchange(gateway.base, [request, '{}\r\n\r\n']);
        assert.equal(statuses(received)[0], 400, received.slice(0, 300));
        assert.match(received, /"code":"invalid-parameter"/);
        assert.match(received, /^content-type: application\/problem\+json/im);
        assert.match(received, /^access-control-allow-origin: \*/im);
        (await gateway.get('/healthz')).expect(200);
      },
      lines.join(' | '),
    ),
  ),
  check(
    '11',
    'malformed-http',
    async (gateway) => {
      const identity = uniqueName();
      const body = traceBody(identity);
      const host = `Host: ${gateway.base.host}`;
      const chunked = head('POST /api/garden HTTP/1.1', host, 'Transfer-Encoding: chunked');
      const first = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`;
      const received = await exchange(gateway.base, [chunked, first, 'zz\r\n\r\n']);
      assert.equal(statuses(received)[0], 400, received.slice(0, 300));
      assert.deepEqual(await gateway.by(identity), []);
    },
    'in the middle of a body',
  ),
];
