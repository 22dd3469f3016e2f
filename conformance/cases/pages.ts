import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { query, traceBody, uniqueName, type Gateway } from '../gateway.ts';

/** What browsers send when a person opens an address. */
const BROWSERS: readonly string[] = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
];
/** What other callers send. */
const OTHERS: readonly string[] = [
  '*/*',
  'text/*',
  'application/json',
  'application/json, text/html;q=0.9, */*',
];

/** Paths of the API, and the pages that show what they answer. */
async function shown(gateway: Gateway): Promise<[path: string, page: string][]> {
  const identity = uniqueName();
  const { entry } = await gateway.contribute('garden', traceBody(identity));
  const [slug = ''] = await gateway.rooms();
  return [
    [`/api/entries/${entry.id}`, `/entries/${entry.id}`],
    [`/api/rooms/${slug}`, `/rooms/${slug}`],
    ['/api/garden', '/garden'],
    ['/api/search', '/search'],
  ];
}

function queryAt(path: string): string {
  return path === '/api/search'
    ? query(path, [
        ['q', 'a trace'],
        ['limit', 1],
      ])
    : query(path, [['limit', 1]]);
}

export const pages: readonly Case[] = [
  check('17.5', 'page-link', async (gateway) => {
    for (const [path, page] of await shown(gateway)) {
      const answer = await gateway.get(path.startsWith('/api/entries') ? path : queryAt(path));
      const link = answer.expect(200).header('link') ?? '';
      assert.ok(link.includes(`<${page}>; rel="alternate"; type="text/html"`), `${path}: ${link}`);
    }
  }),
  check('17.5', 'browser', async (gateway) => {
    for (const [path, page] of await shown(gateway)) {
      const asked = path.startsWith('/api/entries') ? path : queryAt(path);
      for (const Accept of BROWSERS) {
        const answer = (await gateway.get(asked, { Accept })).expect(303);
        assert.equal(answer.header('location'), page + asked.slice(path.length));
        assert.match(answer.header('vary') ?? '', /\baccept\b(?!-)/i);
        const led = (await gateway.get(answer.header('location') ?? '', { Accept })).expect(200);
        assert.equal(led.type, 'text/html');
      }
      for (const Accept of OTHERS) {
        const answer = (await gateway.get(asked, { Accept })).expect(200);
        assert.equal(answer.type, 'application/json');
        assert.match(answer.header('vary') ?? '', /\baccept\b(?!-)/i);
      }
      (await gateway.request('HEAD', asked, { Accept: BROWSERS[0] ?? '' })).expect(303);
    }
  }),
  check('17.5', 'format-json', async (gateway) => {
    for (const [path] of await shown(gateway)) {
      const plain = path.startsWith('/api/entries') ? `${path}?` : `${queryAt(path)}&`;
      for (const Accept of [...BROWSERS, 'text/html', 'application/atom+xml']) {
        const answer = (await gateway.get(`${plain}format=json`, { Accept })).expect(200);
        assert.equal(answer.type, 'application/json');
      }
    }
    const home = await gateway.get('/?format=json', { Accept: 'text/html' });
    assert.equal(home.expect(200).type, 'application/json');
  }),
];
