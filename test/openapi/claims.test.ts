/** What the OpenAPI document claims of parameters and values, tried. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';

import * as schemas from '@open-presence/protocol/schemas';

import { inlineReferences } from '../../conformance/inline-references.ts';
import { until } from '../../conformance/until.ts';
import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';
import { startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';
import { operationsOf, parametersOf, requestsOf, schemaAt, type Operation } from './operations.ts';

const FILE = new URL('../../packages/protocol/openapi.yaml', import.meta.url);

/** More than any page that has a size. */
const SAID = 60;

/** The schemas of the gateway's own types, by their names in the document. */
const TYPED: Readonly<Record<string, object>> = {
  Checkpoint: schemas.CheckpointSchema,
  Discovery: schemas.DiscoverySchema,
  Entry: schemas.EntrySchema,
  Listing: schemas.ListingSchema,
  Presence: schemas.PresenceSchema,
  Present: schemas.PresentSchema,
  Problem: schemas.ProblemSchema,
  Room: schemas.RoomSchema,
  RoomListing: schemas.RoomListingSchema,
  Rooms: schemas.RoomsSchema,
  Search: schemas.SearchSchema,
  Status: schemas.StatusSchema,
  Withheld: schemas.WithheldSchema,
  Withholding: schemas.WithholdingSchema,
};

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

function queryOf(operation: Operation): JsonObject[] {
  return parametersOf(operation, 'query');
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
        if (value === undefined) continue;
        const asked = async (added: string): Promise<string> => {
          const [url, sent] = withParameter(document, operation, added, id);
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
    assert.equal(saying.length, 5);
    for (const [at, operation] of saying.entries()) {
      assert.ok(queryOf(operation).some(({ name }) => name === 'idempotency-key'));
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

  it('is short enough to be read whole, and the file itself where the operator decides nothing', async () => {
    const file = await readFile(FILE, 'utf8');
    assert.equal(await (await fetch(`${gateway.url}/openapi.yaml`)).text(), file);
    assert.ok(Buffer.byteLength(file) <= 60_000);
    assert.ok(operationsOf(document).length <= 40);
  });

  it('requires the members that the gateway’s types require, and has the others', () => {
    for (const [name, type] of Object.entries(TYPED)) {
      const described = schemaAt(document, { $ref: `/${name}` });
      const { required, properties } = asObject(type);
      const names = new Set(Object.keys(asObject(described['properties'])));
      assert.deepEqual(new Set(asArray(described['required'])), new Set(asArray(required)), name);
      const missing = Object.keys(asObject(properties)).filter((member) => !names.has(member));
      assert.deepEqual(missing, [], name);
    }
  });

  it('values that are listed have a type', () => {
    assert.deepEqual(untyped(document['components']), []);
  });

  it('no two paths are told apart by nothing', () => {
    const told = operationsOf(document)
      .filter(({ path, method }) => method === 'GET' && path.startsWith('/api/'))
      .map(({ is }) => `${asString(is['summary'])} ${asString(is['description'])}`);
    assert.equal(new Set(told).size, told.length);
  });
});
