import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { KINDS } from '../entry.ts';
import { uniqueName, query, traceBody, type Gateway } from '../gateway.ts';
import { asObject, asArray, asString, type JsonObject } from '../value.ts';

const ATOM = 'application/atom+xml';
const JSON_FEED = 'application/feed+json';

/** Ids of the entries in an Atom feed, in its order. */
function idsIn(atom: string): string[] {
  const entries = atom.split('<entry>').slice(1);
  return entries.map((entry) => /<id>urn:uuid:([^<]+)<\/id>/.exec(entry)?.[1] ?? '');
}

function nextIn(atom: string, gateway: Gateway): string | null {
  const links = atom.match(/<link [^>]*>/g) ?? [];
  const next = links.find((link) => link.includes('rel="next"'));
  if (next === undefined) return null;
  const href = (/href="([^"]*)"/.exec(next)?.[1] ?? '')
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll('&amp;', '&');
  return pathOf(href, gateway);
}

function pathOf(href: string, gateway: Gateway): string {
  const { origin, pathname, search } = new URL(href);
  assert.equal(origin, gateway.base.origin);
  return pathname + search;
}

async function atom(gateway: Gateway, path: string): Promise<string> {
  const answer = (await gateway.get(path)).expect(200);
  assert.equal(answer.type, ATOM);
  return answer.text;
}

async function jsonFeed(gateway: Gateway, path: string): Promise<JsonObject> {
  const answer = (await gateway.get(path)).expect(200);
  assert.equal(answer.type, JSON_FEED);
  return answer.json;
}

const itemsIn = (feed: JsonObject): JsonObject[] => asArray(feed['items']).map(asObject);

export const feeds: readonly Case[] = [
  check('15.1', 'addresses', async (gateway) => {
    const [slug = ''] = await gateway.rooms();
    const identity = uniqueName();
    const { entry } = await gateway.contribute('garden', traceBody(identity));
    const kinds = KINDS.map((kind) => `/api/${kind}`);
    const places = [...kinds, '/api/entries', `/api/rooms/${slug}`];
    for (const path of [...places, `${entry.path}/replies`]) {
      assert.match(
        await atom(gateway, `${path}.atom`),
        /<feed xmlns="http:\/\/www\.w3\.org\/2005\/Atom"/,
      );
      assert.equal((await jsonFeed(gateway, `${path}.json-feed`))['version'], VERSION);
    }
    const mine = query('/feed.atom', [['identity', identity]]);
    assert.deepEqual(idsIn(await atom(gateway, mine)), [entry.id]);
    const ids = await Promise.all(
      ['/feed.atom', '/api/entries.atom'].map(
        async (path) => /<id>([^<]+)<\/id>/.exec(await atom(gateway, path))?.[1],
      ),
    );
    assert.equal(ids[0], ids[1], 'the same feed has the same id');
    assert.ok('items' in (await jsonFeed(gateway, '/feed.json')));
  }),
  check('15.1', 'accept', async (gateway) => {
    const identity = uniqueName();
    const { entry } = await gateway.contribute('garden', traceBody(identity));
    const path = query('/api/garden', [['identity', identity]]);
    for (const Accept of [ATOM, `${ATOM}, */*;q=0.5`]) {
      const answer = (await gateway.get(path, { Accept })).expect(200);
      assert.equal(answer.type, ATOM);
      assert.deepEqual(idsIn(answer.text), [entry.id]);
    }
    const answer = (await gateway.get(path, { Accept: JSON_FEED })).expect(200);
    assert.equal(answer.type, JSON_FEED);
    assert.equal((await gateway.get(path, { Accept: 'application/*' })).type, 'application/json');
  }),
  check('15.1', 'found', async (gateway) => {
    const link = (await gateway.get('/api/garden?limit=0')).header('link') ?? '';
    assert.ok(link.includes(`</api/garden.atom>; rel="alternate"; type="${ATOM}"`), link);
    assert.ok(link.includes(`</api/garden.json-feed>; rel="alternate"; type="${JSON_FEED}"`), link);
  }),
  check('15.2', 'pages', async (gateway) => {
    const identity = uniqueName();
    const said = [];
    for (let at = 0; at < 7; at++)
      said.push((await gateway.contribute('seeds', traceBody(identity))).entry.id);
    const found: string[] = [];
    let next: string | null = query('/api/seeds.atom', [
      ['identity', identity],
      ['limit', 3],
    ]);
    while (next !== null) {
      const page = await atom(gateway, next);
      found.push(...idsIn(page));
      next = nextIn(page, gateway);
      await gateway.contribute('seeds', traceBody(identity));
    }
    assert.deepEqual(found, said.toReversed());
  }),
  check(
    '15.2',
    'pages',
    async (gateway) => {
      const identity = uniqueName();
      const said = [];
      for (let at = 0; at < 5; at++) {
        said.push((await gateway.contribute('shepit', traceBody(identity))).entry.id);
      }
      const found: string[] = [];
      let next: string | null = query('/api/shepit.json-feed', [
        ['identity', identity],
        ['limit', 2],
      ]);
      while (next !== null) {
        const page = await jsonFeed(gateway, next);
        found.push(...itemsIn(page).map((item) => asString(item['id']).replace('urn:uuid:', '')));
        next = page['next_url'] === undefined ? null : pathOf(asString(page['next_url']), gateway);
      }
      assert.deepEqual(found, said.toReversed());
    },
    'JSON Feed',
  ),
  check('15.2', 'fifty', async (gateway) => {
    const identity = uniqueName();
    for (let at = 0; at < 51; at++) await gateway.contribute('seeds', traceBody(identity));
    const path = query('/api/seeds.atom', [['identity', identity]]);
    assert.equal(idsIn(await atom(gateway, path)).length, 50);
    assert.equal(idsIn(await atom(gateway, `${path}&limit=51`)).length, 51);
  }),
  check('15.2', 'unusable', async (gateway) => {
    (await gateway.get('/feed.atom?limit=some')).problem(400, 'invalid-parameter');
    (await gateway.get('/api/rooms/no-such-room.atom')).problem(404, 'unknown-room');
  }),
  check('15.3', 'text', async (gateway) => {
    const identity = uniqueName();
    const words = ']]> & <script>"\'</script> \u0000 \u001b \ud800 \ufffe \u202e';
    await gateway.contribute('garden', traceBody(identity, { text: words }));
    const path = (form: string): string => query(`/api/garden.${form}`, [['identity', identity]]);
    const page = await atom(gateway, path('atom'));
    assert.ok(!page.includes('<script') && !page.includes(']]>'));
    // oxlint-disable-next-line no-control-regex -- it is about them
    assert.doesNotMatch(page, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
    assert.match(page, /<content type="text">/);
    const [item] = itemsIn(await jsonFeed(gateway, path('json-feed')));
    assert.equal(item?.['content_text'], words.toWellFormed());
    assert.equal(item['content_html'], undefined);
  }),
  check('15.3', 'entry', async (gateway) => {
    const identity = uniqueName();
    const { entry } = await gateway.contribute('garden', traceBody(identity));
    const [item] = itemsIn(
      await jsonFeed(gateway, query('/api/garden.json-feed', [['identity', identity]])),
    );
    assert.equal(item?.['id'], `urn:uuid:${entry.id}`);
    assert.equal(item['date_published'], entry.timestamp);
    assert.equal(pathOf(asString(item['url']), gateway), `/entries/${entry.id}`);
    const [author] = asArray(item['authors']).map(asObject);
    assert.equal(author?.['name'], identity);
  }),
  check('15.3', 'long', async (gateway) => {
    const identity = uniqueName();
    const { entry } = await gateway.contribute(
      'garden',
      traceBody(identity, { text: 'long '.repeat(30_000) }),
    );
    const page = await atom(gateway, query('/api/garden.atom', [['identity', identity]]));
    assert.match(page, /<summary type="text">long long /);
    assert.ok(new RegExp(`<content [^>]*src="[^"]*${entry.path}"`).test(page));
  }),
  check('15.4', 'absolute', async (gateway) => {
    const feed = await jsonFeed(gateway, '/feed.json?limit=1');
    assert.equal(pathOf(asString(feed['feed_url']), gateway), '/feed.json?limit=1');
  }),
];

const VERSION = 'https://jsonfeed.org/version/1.1';
