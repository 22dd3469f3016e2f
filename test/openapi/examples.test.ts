/** All that the OpenAPI document shows, sent as it stands; and nothing that it leaves out. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { inlineReferences } from '../../conformance/inline-references.ts';
import { OpenApiCheck } from '../../conformance/openapi-check.ts';
import { asObject, asString, type JsonObject } from '../../conformance/value.ts';
import { createRouter } from '../../packages/gateway/src/routes.ts';
import { startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';
import {
  formsOf,
  lacks,
  mistakesOf,
  nameOf,
  operationsOf,
  requestsOf,
  successesOf,
  type Request,
} from './operations.ts';

/** What is answered; of a stream, how it begins. */
async function answered(base: string, request: Request): Promise<Response> {
  const { method, url, headers, body } = request;
  const gone = new AbortController();
  const sent = { method, headers, signal: gone.signal, ...(body === undefined ? {} : { body }) };
  const answer = await fetch(base + url, sent);
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const bytes = isStream ? await firstOf(answer) : await answer.bytes();
  gone.abort();
  return new Response(answer.status === 204 ? null : bytes, answer);
}

async function firstOf(answer: Response): Promise<Uint8Array<ArrayBuffer>> {
  const body: ReadableStream<Uint8Array> | null = answer.body;
  const step = await body?.getReader().read();
  return new Uint8Array(step?.value ?? []);
}

/** What is wrong with the answers to what a document shows, and to mistakes. */
async function complaints(base: string, document: JsonObject): Promise<string[]> {
  const described = new OpenApiCheck(document);
  const id = await kept(base);
  const found: string[] = [];
  const checked = async (request: Request, answer: Response): Promise<string[]> => {
    const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
    const bytes = Buffer.from(await answer.arrayBuffer());
    const told = { status: answer.status, type, bytes, header: () => undefined };
    try {
      described.check(request.method, request.url, told);
      return [];
    } catch (error) {
      return [`${request.of}: ${String(error)}`];
    }
  };
  for (const operation of operationsOf(document)) {
    found.push(...lacks(document, operation));
    for (const request of mistakesOf(operation)) {
      found.push(...(await checked(request, await answered(base, request))));
    }
    for (const request of formsOf(operation, id)) {
      const answer = await answered(base, request);
      const type = (answer.headers.get('content-type') ?? '').split(';')[0];
      if (type !== request.type) found.push(`${request.of} is answered as ${type}`);
      found.push(...(await checked(request, answer)));
    }
    for (const request of requestsOf(operation, id)) {
      const answer = await answered(base, request);
      const good = successesOf(operation).map(([status]) => status);
      if (!good.includes(String(answer.status))) {
        found.push(`${request.of} is answered ${answer.status}: ${await answer.text()}`);
      } else found.push(...(await checked(request, answer)));
    }
  }
  return found;
}

/** The id of an entry. */
async function kept(base: string): Promise<string> {
  const answer = await fetch(`${base}/api/seeds`, { method: 'POST', body: '{"text":"garden"}' });
  return asString(asObject(await answer.json())['id']);
}

/** What the gateway serves and the document does not have. */
async function unmentioned(base: string, document: JsonObject): Promise<string[]> {
  // A route that is described by no path is loaded by a page of the gateway alone.
  const known = createRouter()
    .routes.filter(({ description }) => description.paths?.length !== 0)
    .map(({ path }) => path);
  const described = new Set(operationsOf(document).map(nameOf));
  const found: string[] = [];
  for (const path of known) {
    const options = await fetch(base + path.replaceAll(/[{}]/g, ''), { method: 'OPTIONS' });
    const methods = (options.headers.get('allow') ?? '').split(', ');
    assert.ok(methods.includes('GET'), path);
    for (const method of ['GET', 'POST']) {
      const stand = path.endsWith('/say/{kind}')
        ? ['resonance', 'garden', 'seeds', 'shepit']
        : [''];
      for (const kind of stand) {
        const name = `${method} ${path.replace('{kind}', kind)}`;
        if (methods.includes(method) && !described.has(name)) found.push(name);
      }
    }
  }
  return found;
}

/** The document with one operation alone, otherwise than it was. */
function bent(
  document: JsonObject,
  path: string,
  change: (item: JsonObject) => unknown,
): JsonObject {
  const item = structuredClone(asObject(asObject(document['paths'])[path]));
  return { ...document, paths: { [path]: change(item) } };
}

function respelled(item: JsonObject, from: string, to: string): unknown {
  return JSON.parse(JSON.stringify(item).replaceAll(from, to)) as unknown;
}

function withoutExamples(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExamples);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => name !== 'example' && name !== 'examples');
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutExamples(part)]));
}

describe('what the OpenAPI document shows', () => {
  let gateway: GatewayProcess;
  let document: JsonObject;
  before(async () => {
    gateway = await startGatewayProcess();
    const described = await fetch(`${gateway.url}/openapi.json`);
    document = inlineReferences(asObject(await described.json()));
  });
  after(() => gateway[Symbol.asyncDispose]());

  it('is answered as it says, when it is sent as it stands or by mistake', async () => {
    assert.deepEqual(await complaints(gateway.url, document), []);
  });

  it('is all that the gateway serves', async () => {
    assert.deepEqual(await unmentioned(gateway.url, document), []);
  });

  describe('and whoever changes it is told', () => {
    const BENDS: Readonly<Record<string, [string, (item: JsonObject) => unknown, RegExp]>> = {
      'of a body that is refused': [
        '/api/garden',
        (item) => respelled(item, '"value":{', '"value":{"to":1,'),
        /is answered 422/,
      ],
      'of a parameter that is refused': [
        '/api/garden',
        (item) => respelled(item, '"example":"oldest"', '"example":"sideways"'),
        /order=sideways {2}is answered 400/,
      ],
      'of an answer of another shape': [
        '/api/rooms',
        () => asObject(asObject(document['paths'])['/api/search']),
        /GET \/api\/rooms\S* 200 is not as described/,
      ],
      'of an error that is left out': [
        '/api/garden',
        (item) => respelled(item, '"400":', '"418":'),
        /does not describe its 400/,
      ],
      'of an answer of another type': [
        '/feed.atom',
        () => asObject(asObject(document['paths'])['/feed.json']),
        /does not describe application\/atom\+xml/,
      ],
      'of a form that is not answered': [
        '/api/garden',
        (item) => respelled(item, '"text/event-stream":', '"text/csv":'),
        /as text\/csv is answered as application\/json/,
      ],
      'of an operation without examples': ['/a2a', withoutExamples, /its body has no example/],
      'of an answer that is not shown': ['/api', withoutExamples, /no answer is shown/],
      'of a parameter without example': ['/api/search', withoutExamples, /q has no example/],
    };
    for (const [what, [path, change, complaint]] of Object.entries(BENDS)) {
      it(what, async () => {
        const found = await complaints(gateway.url, bent(document, path, change));
        assert.match(found.join('\n'), complaint);
      });
    }

    it('of a path that is left out', async () => {
      const { '/mcp': _, ...paths } = asObject(document['paths']);
      const found = await unmentioned(gateway.url, { ...document, paths });
      assert.deepEqual(found, ['GET /mcp', 'POST /mcp']);
    });
  });
});
