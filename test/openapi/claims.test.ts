/** What the OpenAPI document claims of parameters and values, tried. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { inlineReferences } from '../../conformance/inline-references.ts';
import { until } from '../../conformance/until.ts';
import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';
import { startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';
import { operationsOf, requestsOf, type Operation } from './operations.ts';

/** More than any page that has a size. */
const SAID = 60;

/** The plainest request of an operation, with one parameter more. */
function withParameter(operation: Operation, id: string, added: string): [string, RequestInit] {
  const [plain] = requestsOf(operation, id);
  assert.ok(plain !== undefined);
  const { url, method, body } = plain;
  const joined = added === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${added}`;
  return [joined, { method, ...(body === undefined ? {} : { body }) }];
}

function queryOf({ is }: Operation): JsonObject[] {
  const all = asArray(is['parameters'] ?? []).map(asObject);
  return all.filter((parameter) => parameter['in'] === 'query');
}

/** Where values are listed that have no type. */
function untyped(value: unknown, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'enum' in value && Array.isArray(value.enum) && !('type' in value) ? [at] : [];
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, part]) => untyped(part, `${at}/${name}`)),
  ];
}

describe('what the OpenAPI document claims', () => {
  let gateway: GatewayProcess;
  let document: JsonObject;
  let id = '';
  before(async () => {
    gateway = await startGatewayProcess();
    const described = await fetch(`${gateway.url}/openapi.json`);
    document = inlineReferences(asObject(await described.json()));
    for (let count = 0; count < SAID; count++) {
      const body = JSON.stringify({ text: 'garden', identity: 'One', identityType: 'visitor' });
      const answer = await fetch(`${gateway.url}/api/garden`, { method: 'POST', body });
      id = asString(asObject(await answer.json())['id']);
    }
    const words = `${gateway.url}/api/garden?q=garden&wait=60&limit=1`;
    await (await fetch(`${words}&after=${SAID - 1}`)).arrayBuffer();
  });
  after(() => gateway[Symbol.asyncDispose]());

  it('whoever says who it is with `as` is present, wherever `as` is taken', async () => {
    const taking = operationsOf(document).filter((operation) => {
      return queryOf(operation).some(({ name }) => name === 'as');
    });
    assert.ok(taking.length > 20);
    const gone = new AbortController();
    const sent = taking.map(async (operation, at) => {
      const [url, request] = withParameter(operation, id, `as=Reader${at}`);
      return await fetch(gateway.url + url, { ...request, signal: gone.signal });
    });
    const absent = async (): Promise<string[]> => {
      const presence = await (await fetch(`${gateway.url}/api/presence`)).text();
      const missing = taking.filter((_, at) => !presence.includes(`"Reader${at}"`));
      return missing.map(({ method, path }) => `${method} ${path}`);
    };
    const answers = await Promise.all(sent);
    // Threads tell each other of it in a moment.
    await until(
      absent,
      ({ length }) => length === 0,
      (missing) => `not present by ${missing.join(', ')}`,
    );
    gone.abort();
    await Promise.allSettled(answers.map((answer) => answer.arrayBuffer()));
  });

  it('a default is what is done without the parameter', async () => {
    for (const operation of operationsOf(document)) {
      for (const parameter of queryOf(operation)) {
        const { name, schema } = parameter;
        const value = asObject(schema)['default'];
        if (value === undefined || operation.path.includes('.')) continue;
        const asked = async (added: string): Promise<string> => {
          const [url, sent] = withParameter(operation, id, added);
          const answer = asObject(await (await fetch(gateway.url + url, sent)).json());
          return JSON.stringify(answer['entries'] ?? answer['results']);
        };
        const said = `${asString(name)}=${asString(value)}`;
        assert.equal(await asked(said), await asked(''), `${operation.path}?${said}`);
      }
    }
  });

  it('a key in the query makes trying again safe, wherever something is said', async () => {
    const saying = operationsOf(document).filter(({ is }) =>
      asString(is['operationId']).startsWith('say'),
    );
    assert.equal(saying.length, 8);
    for (const [at, operation] of saying.entries()) {
      assert.ok(queryOf(operation).some(({ name }) => name === 'idempotency-key'));
      const said = async (): Promise<unknown> => {
        const [url, sent] = withParameter(operation, id, `idempotency-key=once${at}`);
        return asObject(await (await fetch(gateway.url + url, sent)).json())['id'];
      };
      assert.equal(await said(), await said(), operation.path);
    }
  });

  it('whoever has an answer is told so just where that is said', async () => {
    for (const operation of operationsOf(document)) {
      const { method, path, is } = operation;
      if (method !== 'GET' || path.startsWith('/api/say/') || path.startsWith('/a2a/v1/')) continue;
      const gone = new AbortController();
      const [url] = withParameter(operation, id, '');
      const answer = await fetch(gateway.url + url, { signal: gone.signal });
      assert.equal(answer.headers.has('etag'), '304' in asObject(is['responses']), path);
      gone.abort();
      await answer.arrayBuffer().catch(() => {});
    }
  });

  it('what operations share is there once', async () => {
    const sent = await (await fetch(`${gateway.url}/openapi.json`)).text();
    const repeated = new Map<string, number>();
    for (const { is } of operationsOf(asObject(JSON.parse(sent)))) {
      const parameters = asArray(is['parameters'] ?? []);
      for (const value of [...parameters, ...Object.values(asObject(is['responses']))]) {
        const json = JSON.stringify(value);
        if (json.length > 60) repeated.set(json, (repeated.get(json) ?? 0) + 1);
      }
    }
    assert.ok(repeated.size > 10);
    assert.deepEqual(
      [...repeated].filter(([, count]) => count > 1),
      [],
    );
    assert.ok(Buffer.byteLength(sent) < JSON.stringify(document).length / 1.5);
  });

  it('values that are listed have a type', () => {
    assert.deepEqual(untyped(document), []);
  });

  it('no two paths are told apart by nothing', () => {
    const told = operationsOf(document)
      .filter(({ path, method }) => method === 'GET' && path.startsWith('/api/'))
      .map(({ is }) => `${asString(is['summary'])} ${asString(is['description'])}`);
    assert.equal(new Set(told).size, told.length);
  });

  it('an id is said to be that of an entry only where it is one', () => {
    for (const { path, is } of operationsOf(document)) {
      const said = JSON.stringify(is['parameters'] ?? []).includes('/api/entries/{id}');
      assert.equal(said, path.startsWith('/api/entries/'), path);
    }
  });

  it('what is listed comes before the feeds of it, in each group', () => {
    const tags = asArray(document['tags']).map((tag) => asString(asObject(tag)['name']));
    for (const tag of tags) {
      const paths = operationsOf(document)
        .filter(({ is }) => asArray(is['tags'])[0] === tag)
        .map(({ path }) => path);
      const feeds = paths.filter((path) => /^\/api\/.*\.(?:atom|json-feed)$/.test(path));
      assert.deepEqual(paths.slice(paths.length - feeds.length), feeds);
    }
  });
});
