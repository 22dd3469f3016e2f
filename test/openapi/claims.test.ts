/** What the OpenAPI document claims of parameters and values, tried. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import {
  inlineReferences,
  operationsOf,
  parametersOf,
  type Operation,
} from '../../conformance/openapi-document.ts';
import { until } from '../../conformance/until.ts';
import { asObject, asString, type JsonObject } from '../../conformance/value.ts';
import { requestsOf } from './operations.ts';
import { sharedGateway } from '../shared.ts';
import { contribute, objectAt } from '../requests.ts';

/** More than any page that has a size. */
const SAID = 60;

/** The plainest request of an operation, with one parameter more. */
function withParameter(
  document: JsonObject,
  operation: Operation,
  added: string,
  id: string,
): [string, RequestInit] {
  const [plain] = requestsOf(document, operation, id);
  assert.ok(plain !== undefined);
  const { url, method, body } = plain;
  const joined = added === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${added}`;
  return [joined, { method, ...(body === undefined ? {} : { body }) }];
}

describe('what the OpenAPI document claims', () => {
  const gateway = sharedGateway();
  let document: JsonObject;
  let id = '';
  before(async () => {
    document = inlineReferences(await objectAt(`${gateway.url}/openapi.json`));
    for (let count = 0; count < SAID; count++) {
      const trace = { text: 'garden', identity: 'One', identityType: 'visitor' };
      id = await contribute(gateway.url, 'garden', trace);
    }
    const words = `${gateway.url}/api/garden?q=garden&wait=60&limit=1`;
    await (await fetch(`${words}&after=${SAID - 1}`)).arrayBuffer();
  });

  it('whoever says who it is with `as` is present, wherever `as` is taken', async () => {
    const taking = operationsOf(document).filter((operation) => {
      return parametersOf(operation, 'query').some(({ name }) => name === 'as');
    });
    assert.ok(taking.length > 15);
    const gone = new AbortController();
    const sent = taking.map(async (operation, at) => {
      const [url, request] = withParameter(document, operation, `as=Reader${at}`, id);
      return await fetch(gateway.url + url, { ...request, signal: gone.signal });
    });
    const absent = async (): Promise<string[]> => {
      const presence = await (await fetch(`${gateway.url}/api/presence`)).text();
      const missing = taking.filter((_, at) => !presence.includes(`"Reader${at}"`));
      return missing.map(({ method, path }) => `${method} ${path}`);
    };
    const answers = await Promise.all(sent);
    // Threads tell each other of it in a moment.
    await until(absent, ({ length }) => length === 0);
    gone.abort();
    await Promise.allSettled(answers.map((answer) => answer.arrayBuffer()));
  });

  it('a default is what is done without the parameter', async () => {
    for (const operation of operationsOf(document)) {
      for (const parameter of parametersOf(operation, 'query')) {
        const { name, schema } = parameter;
        const value = asObject(schema)['default'];
        if (value === undefined) continue;
        const asked = async (added: string): Promise<string> => {
          const [url, sent] = withParameter(document, operation, added, id);
          const answer = asObject(await (await fetch(gateway.url + url, sent)).json());
          return JSON.stringify(answer['entries'] ?? answer['results']);
        };
        const said = `${asString(name)}=${JSON.stringify(value).replaceAll('"', '')}`;
        assert.equal(await asked(said), await asked(''), `${operation.path}?${said}`);
      }
    }
  });

  it('a key in the query makes trying again safe, wherever something is said', async () => {
    const saying = operationsOf(document).filter(({ is }) =>
      asString(is['operationId']).startsWith('say'),
    );
    assert.equal(saying.length, 5);
    for (const [at, operation] of saying.entries()) {
      assert.ok(parametersOf(operation, 'query').some(({ name }) => name === 'idempotency-key'));
      const said = async (): Promise<unknown> => {
        const [url, sent] = withParameter(
          document,
          operation,
          `text=once&idempotency-key=once${at}`,
          id,
        );
        return asObject(await (await fetch(gateway.url + url, sent)).json())['id'];
      };
      assert.equal(await said(), await said(), operation.path);
    }
  });

  it('whoever has an answer is told so just where that is said', async () => {
    for (const operation of operationsOf(document)) {
      const { method, path, is } = operation;
      if (method !== 'GET' || path.startsWith('/api/say/')) continue;
      const gone = new AbortController();
      const [url] = withParameter(document, operation, '', id);
      const answer = await fetch(gateway.url + url, { signal: gone.signal });
      assert.equal(answer.headers.has('etag'), '304' in asObject(is['responses']), path);
      gone.abort();
      await answer.arrayBuffer().catch(() => {});
    }
  });

  it('is short enough to be read whole', async () => {
    const text = await (await fetch(`${gateway.url}/openapi.yaml`)).text();
    assert.ok(Buffer.byteLength(text) <= 60_000);
    assert.ok(operationsOf(document).length <= 40);
  });
});
