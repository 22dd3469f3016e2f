import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { KINDS } from '../entry.ts';
import type { Gateway } from '../gateway.ts';
import {
  bodiesOf,
  exampleOf,
  operationsOf,
  pairOf,
  parametersOf,
  pathOf,
  schemaAt,
  type Operation,
} from '../openapi-document.ts';
import { asObject, asArray, asString, asNonBlank } from '../value.ts';

const DOCUMENTS: readonly (readonly [string, string])[] = [
  ['/openapi.json', 'application/json'],
  ['/openapi.yaml', 'application/yaml'],
  ['/llms.txt', 'text/plain'],
  ['/skill.md', 'text/markdown'],
  ['/protocol.md', 'text/markdown'],
  ['/.well-known/api-catalog', 'application/linkset+json'],
  ['/.well-known/ard.json', 'application/json'],
];

const HOMES: readonly (readonly [string, string])[] = [
  ['text/markdown', 'text/markdown'],
  ['text/plain', 'text/plain'],
  ['text/html', 'text/html'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
  ['text/markdown;q=0.9, text/plain, application/json;q=0.1', 'text/plain'],
  ['text/*', 'text/markdown'],
  ['text/markdown, */*', 'text/markdown'],
  ['*/*', 'application/json'],
  ['image/png', 'application/json'],
];

/** What a page loads, or may not contain. */
const LOADED = /<(?:script|img|link)[^>]* (?:src|href)="([^"]+)"/g;
const INLINE = /<script(?![^>]* src=)(?! type="application\/json")|<style| style="| on\w+="/i;

/** Whom the operator wants to be written to, if that is said. */
async function contactOf(gateway: Gateway): Promise<string | undefined> {
  const { contact } = (await gateway.get('/api/discover')).json;
  return contact === undefined ? undefined : asString(contact);
}

/** Every address of the gateway that a text has, relative to it. */
function addresses(gateway: Gateway, said: string, contact: string | undefined): string[] {
  const found = said.matchAll(/\]\(([^)\s]+)\)|href="([^"#][^"]*)"|"href":\s*"([^"]+)"/g);
  return Array.from(found, ([, ...groups]) => groups.find((one) => one !== undefined) ?? '')
    .filter((address) => !address.startsWith('data:') && address !== contact)
    .map((address) => {
      const url = new URL(address, gateway.base);
      assert.equal(url.host, gateway.base.host, 'a page links only to this gateway');
      return url.pathname + url.search;
    });
}

/** Streams do not end by themselves. */
function isEndless({ is }: Operation): boolean {
  const answer = asObject(asObject(is['responses'])['200'] ?? {});
  return Object.keys(asObject(answer['content'] ?? {})).join() === 'text/event-stream';
}

export const about: readonly Case[] = [
  check('17.1', 'documents', async (gateway) => {
    for (const [path, type] of DOCUMENTS) {
      const answer = (await gateway.get(path)).expect(200);
      assert.equal(answer.type, type, path);
      asNonBlank(answer.text);
      const again = await gateway.get(path, { 'if-none-match': answer.header('etag') ?? '' });
      assert.equal(again.status, 304, path);
    }
  }),
  check('17.1', 'sections', async (gateway) => {
    const whole = (await gateway.get('/protocol.md')).expect(200).text;
    for (const [section, opening] of [
      ['8', '## 8. '],
      ['8.2', '8.2. '],
    ] as const) {
      const answer = (await gateway.get(`/protocol.md?section=${section}`)).expect(200);
      assert.equal(answer.type, 'text/markdown');
      assert.ok(answer.text.startsWith(opening) && whole.includes(answer.text));
    }
    const both = (await gateway.get('/protocol.md?section=2&section=3')).expect(200).text;
    assert.match(both, /^## 2\. [^]+^## 3\. /m);
    const none = (await gateway.get('/protocol.md?section=8.99')).problem(400, 'invalid-parameter');
    assert.ok(asArray(none['known']).includes('8. Listings'));
  }),
  check('17.1', 'links', async (gateway) => {
    const pages = ['/llms.txt', '/skill.md', '/.well-known/api-catalog'];
    const texts = [(await gateway.get('/', { accept: 'text/markdown' })).text];
    for (const page of pages) texts.push((await gateway.get(page)).text);
    texts.push((await gateway.get('/', { accept: 'text/html' })).text);
    const contact = await contactOf(gateway);
    const all = new Set(texts.flatMap((said) => addresses(gateway, said, contact)));
    assert.ok(all.size > 10);
    for (const address of all) {
      assert.ok(!address.startsWith('/api/say'), 'nothing is said by following a link');
      const found = await gateway.request('HEAD', address);
      const there =
        found.status === 303
          ? await gateway.request('HEAD', found.header('location') ?? '')
          : found;
      assert.ok(there.status < 300, `${address}: ${there.status}`);
    }
  }),
  check('17.1', 'skill', async (gateway) => {
    const { text } = (await gateway.get('/skill.md')).expect(200);
    const [, name, description, version] =
      /^---\nname: ([a-z-]{1,64})\ndescription: (.{1,1024})\nmetadata:\n {2}version: (.+)\n---\n/.exec(
        text,
      ) ?? [];
    for (const value of [name, description, version]) asNonBlank(value);
    const [, again = ''] = /^GET (http\S+\/api\/catch-up\?identity=\S+)$/m.exec(text) ?? [];
    const { pathname, search } = new URL(again);
    (await gateway.get(pathname + search)).expect(200);
  }),
  check('17.1', 'catalogs', async (gateway) => {
    const linkset = asArray((await gateway.get('/.well-known/api-catalog')).json['linkset']);
    const [api] = linkset.map(asObject);
    for (const relation of ['service-desc', 'service-doc', 'service-meta', 'status']) {
      assert.ok(asArray(api?.[relation]).length > 0, relation);
    }
  }),
  check('17.1', 'contact', async (gateway) => {
    const contact = await contactOf(gateway);
    const answer = await gateway.get('/.well-known/security.txt');
    if (contact === undefined) {
      answer.problem(404, 'not-found');
      return;
    }
    assert.equal(answer.expect(200).type, 'text/plain');
    assert.match(contact, /^(?:https?|mailto):/);
    assert.ok(answer.text.includes(`Contact: ${contact}\n`));
    const [, expires = ''] = /^Expires: (.+)$/m.exec(answer.text) ?? [];
    assert.ok(Date.parse(expires) > Date.now(), expires);
    assert.ok((await gateway.get('/', { accept: 'text/markdown' })).text.includes(contact));
  }),
  check('17.2', 'home', async (gateway) => {
    for (const [accept, type] of HOMES) {
      const answer = (await gateway.get('/', { accept })).expect(200);
      assert.equal(answer.type, type, accept);
      assert.match(
        answer.header('cache-control') ?? '',
        type === 'text/html' ? /no-cache/ : /no-store/,
      );
      if (type !== 'application/json') assert.match(answer.text, /POST http.*\/api\/resonance/);
    }
  }),
  check('17.2', 'pages', async (gateway) => {
    const home = await gateway.get('/', { accept: 'text/html' });
    for (const type of ['atom', 'feed']) {
      assert.match(home.text, new RegExp(`<link rel="alternate" type="application/${type}\\+`));
    }
    const loaded = Array.from(home.text.matchAll(LOADED), ([, address = '']) => address);
    assert.ok(loaded.length > 0);
    for (const address of loaded) {
      const url = new URL(address, gateway.base);
      assert.equal(url.host, gateway.base.host);
      (await gateway.request('HEAD', url.pathname + url.search)).expect(200);
    }
    assert.doesNotMatch(home.text, INLINE);
    const policy = home.header('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  }),
  check('17.2', 'speak', async (gateway) => {
    for (const path of ['/docs', '/reference'])
      assert.equal((await gateway.get(path)).expect(308).header('location'), '/speak');
    const { text } = (await gateway.get('/speak')).expect(200);
    const commands = Array.from(text.matchAll(/>(curl [^<]+)</g), ([, command = '']) => command);
    const { document } = await gateway.openApi();
    for (const { method, path } of operationsOf(document)) {
      const variable = path.replaceAll(/\{\w+\}/g, '[^/?]+');
      const address = new RegExp(`^curl '?\\w+://[^/]+${variable}(?:\\?[^ ]*)?'?(?: |$)`);
      const found = commands.some(
        (command) => address.test(command) && command.includes(' -d ') === (method === 'POST'),
      );
      assert.ok(found, `${method} ${path}`);
    }
  }),
  check('17.3', 'link-headers', async (gateway) => {
    for (const path of ['/', '/api', '/api/discover', '/api/nowhere', '/api/garden?limit=x']) {
      const link = (await gateway.get(path)).header('link') ?? '';
      for (const relation of ['service-desc', 'service-doc', 'alternate', 'describedby']) {
        const target = new RegExp(`<([^>]+)>; rel="${relation}"`).exec(link)?.[1] ?? '';
        (await gateway.request('HEAD', target)).expect(200);
      }
    }
  }),
  check('17.4', 'paths', async (gateway) => {
    const { document } = await gateway.openApi();
    const { json } = (await gateway.get('/api/discover')).expect(200);
    const doors = asArray(json['doors']).map((door) => asString(asObject(door)['path']));
    const described = new Set(operationsOf(document).map(({ path }) => path));
    for (const path of [...doors, '/api', '/api/rooms', ...KINDS.map((kind) => `/api/${kind}`)]) {
      const [bare = ''] = path.split('?', 1);
      assert.equal(described.has(bare), bare.startsWith('/api'), bare);
    }
    for (const { is } of operationsOf(document)) {
      for (const part of ['operationId', 'summary']) asNonBlank(is[part]);
    }
  }),
  check('17.4', 'operator', async (gateway) => {
    const { document } = await gateway.openApi();
    const slugs = schemaAt(document, { $ref: '#/components/schemas/RoomSlug' })['enum'];
    assert.deepEqual(slugs, await gateway.rooms());
  }),
  check('17.4', 'bodies', async (gateway) => {
    const { document } = await gateway.openApi();
    let sent = 0;
    for (const operation of operationsOf(document)) {
      for (const said of bodiesOf(document, operation)) {
        (await gateway.request('POST', operation.path, {}, said)).expect(201);
        sent += 1;
      }
    }
    assert.ok(sent >= KINDS.length);
  }),
  check('17.4', 'parameters', async (gateway) => {
    const { document } = await gateway.openApi();
    const { entry } = await gateway.contribute('seeds', '{}');
    for (const operation of operationsOf(document)) {
      if (operation.method !== 'GET' || isEndless(operation)) continue;
      const path = pathOf(document, operation, entry.path.split('/').at(-1) ?? '');
      const status = path.startsWith('/api/say/') ? 201 : 200;
      const pairs = parametersOf(operation, 'query')
        .filter((parameter) => exampleOf(document, parameter) !== undefined)
        .map((parameter) => pairOf(document, parameter));
      const small = pairs.some((pair) => pair.startsWith('limit=')) ? ['limit=10'] : [];
      // Listings are alike: of one of them each parameter alone, of the others all at once.
      const each = path === '/api/garden' ? pairs.map((pair) => [...small, pair]) : [];
      for (const some of [...each, pairs]) {
        (await gateway.get(some.length === 0 ? path : `${path}?${some.join('&')}`)).expect(status);
      }
    }
  }),
];
