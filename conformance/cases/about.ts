import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { KINDS } from '../entry.ts';
import type { Gateway } from '../gateway.ts';
import { asObject, asArray, asString, asNonBlank, type JsonObject } from '../value.ts';

const DOCUMENTS: readonly (readonly [string, string])[] = [
  ['/openapi.json', 'application/json'],
  ['/openapi.yaml', 'application/yaml'],
  ['/reference', 'text/html'],
  ['/llms.txt', 'text/plain'],
  ['/skill.md', 'text/markdown'],
  ['/protocol.md', 'text/markdown'],
  ['/.well-known/api-catalog', 'application/linkset+json'],
  ['/.well-known/ai-catalog.json', 'application/ai-catalog+json'],
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

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly is: JsonObject;
}

async function operations(gateway: Gateway): Promise<Operation[]> {
  const { document } = await gateway.openApi();
  return Object.entries(asObject(document['paths'])).flatMap(([path, methods]) =>
    Object.entries(asObject(methods)).map(([method, is]) => ({ path, method, is: asObject(is) })),
  );
}

function parametersOf({ is }: Operation): JsonObject[] {
  return 'parameters' in is ? asArray(is['parameters']).map(asObject) : [];
}

/** A value of a parameter: its example, or the first that is listed. */
function exampleOf(document: JsonObject, { example, schema }: JsonObject): unknown {
  if (example !== undefined) return example;
  const [first] = asArray(asObject(schema)['anyOf'] ?? [schema]).map((one) =>
    schemaAt(document, one),
  );
  return asArray(first?.['enum'] ?? [])[0];
}

/** A schema, or that to which it refers. */
function schemaAt(document: JsonObject, schema: unknown): JsonObject {
  const { $ref: reference } = asObject(schema);
  if (reference === undefined) return asObject(schema);
  const name = asString(reference).split('/').at(-1) ?? '';
  return asObject(asObject(asObject(document['components'])['schemas'])[name]);
}

/** The path with the examples of its variable parts, or undefined where one has none. */
function pathOf(document: JsonObject, operation: Operation): string | undefined {
  let { path } = operation;
  for (const parameter of parametersOf(operation)) {
    if (parameter['in'] !== 'path') continue;
    const example = exampleOf(document, parameter);
    if (example === undefined) return undefined;
    path = path.replace(`{${asString(parameter['name'])}}`, encodeURIComponent(asString(example)));
  }
  return path;
}

/** Each parameter of the query with its example. */
function queryOf(document: JsonObject, operation: Operation): string[] {
  return parametersOf(operation).flatMap((parameter) => {
    const example = exampleOf(document, parameter);
    if (parameter['in'] !== 'query' || example === undefined) return [];
    const name = asString(parameter['name']);
    const values = Array.isArray(example) ? example : [example];
    return [values.map((one) => `${name}=${encodeURIComponent(String(one))}`).join('&')];
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
  check('17.1', 'links', async (gateway) => {
    const pages = ['/llms.txt', '/skill.md', '/.well-known/api-catalog', '/reference'];
    const texts = [(await gateway.get('/', { accept: 'text/markdown' })).text];
    for (const page of pages) texts.push((await gateway.get(page)).text);
    texts.push((await gateway.get('/', { accept: 'text/html' })).text);
    const contact = await contactOf(gateway);
    const all = new Set(texts.flatMap((said) => addresses(gateway, said, contact)));
    assert.ok(all.size > 10);
    for (const address of all) {
      assert.ok(!address.startsWith('/api/say'), 'nothing is said by following a link');
      assert.ok((await gateway.request('HEAD', address)).status < 300, address);
    }
  }),
  check('17.1', 'skill', async (gateway) => {
    const { text } = (await gateway.get('/skill.md')).expect(200);
    const [, name, description, version] =
      /^---\nname: ([a-z-]{1,64})\ndescription: (.{1,1024})\nmetadata:\n {2}version: (.+)\n---\n/.exec(
        text,
      ) ?? [];
    for (const value of [name, description, version]) asNonBlank(value);
    const [, again = ''] = /^GET (http\S+\/api\/entries\?to=\S+)$/m.exec(text) ?? [];
    const { pathname, search } = new URL(again);
    for (const name of ['after', 'limit', 'as']) assert.match(search, new RegExp(`&${name}=`));
    (await gateway.get(pathname + search)).expect(200);
  }),
  check('17.1', 'catalogs', async (gateway) => {
    const linkset = asArray((await gateway.get('/.well-known/api-catalog')).json['linkset']);
    const [api] = linkset.map(asObject);
    for (const relation of ['service-desc', 'service-doc', 'service-meta', 'status']) {
      assert.ok(asArray(api?.[relation]).length > 0, relation);
    }
    const catalog = (await gateway.get('/.well-known/ai-catalog.json')).json;
    assert.equal(catalog['specVersion'], '1.0');
    const entries = asArray(catalog['entries']).map(asObject);
    assert.ok(entries.length > 0);
    for (const entry of entries) {
      for (const member of ['identifier', 'type', 'url']) asNonBlank(entry[member]);
      const { pathname } = new URL(asString(entry['url']));
      (await gateway.request('HEAD', pathname)).expect(200);
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
  check('17.2', 'reference', async (gateway) => {
    const page = await gateway.get('/reference');
    const policy = page.header('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'; script-src 'self';/);
    assert.doesNotMatch(policy, /unsafe-eval|https?:|\*/);
    const scripts = Array.from(page.text.matchAll(/<script src="([^"]+)"/g), ([, src = '']) => {
      const url = new URL(src, new URL('/reference', gateway.base));
      assert.equal(url.host, gateway.base.host);
      return url.pathname;
    });
    assert.ok(scripts.length > 0);
    for (const path of scripts) (await gateway.request('HEAD', path)).expect(200);
    assert.equal((await gateway.get('/docs')).expect(308).header('location'), '/reference');
    for (const path of ['/protocol.md', '/openapi.json', '/llms.txt']) {
      assert.ok(addresses(gateway, page.text, undefined).includes(path), path);
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
    const { json } = (await gateway.get('/api/discover')).expect(200);
    const doors = asArray(json['doors']).map((door) => asString(asObject(door)['path']));
    const described = new Set((await operations(gateway)).map(({ path }) => path));
    const rest = [...doors, '/api', '/api/rooms', ...KINDS.map((kind) => `/api/${kind}`)];
    for (const path of rest.filter((one) => one.startsWith('/api'))) {
      const [bare = ''] = path.split('?', 1);
      assert.ok(described.has(bare), bare);
    }
    for (const { is } of await operations(gateway)) {
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
    for (const operation of await operations(gateway)) {
      if (!('requestBody' in operation.is)) continue;
      const content = asObject(asObject(operation.is['requestBody'])['content']);
      const { schema } = asObject(content['application/json']);
      for (const body of asArray(schemaAt(document, schema)['examples'])) {
        const said = JSON.stringify(body);
        (await gateway.request('POST', operation.path, {}, said)).expect(201);
        sent += 1;
      }
    }
    assert.ok(sent >= KINDS.length);
  }),
  check('17.4', 'parameters', async (gateway) => {
    const { document } = await gateway.openApi();
    for (const operation of await operations(gateway)) {
      const path = pathOf(document, operation);
      if (operation.method !== 'get' || path === undefined || isEndless(operation)) continue;
      const status = path.startsWith('/api/say/') ? 201 : 200;
      const pairs = queryOf(document, operation);
      const small = pairs.some((pair) => pair.startsWith('limit=')) ? ['limit=10'] : [];
      // Listings are alike: of one of them each parameter alone, of the others all at once.
      const each = path === '/api/garden' ? pairs.map((pair) => [...small, pair]) : [];
      for (const some of [...each, pairs]) {
        (await gateway.get(some.length === 0 ? path : `${path}?${some.join('&')}`)).expect(status);
      }
    }
  }),
];
