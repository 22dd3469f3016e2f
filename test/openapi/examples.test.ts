/** All that the OpenAPI document shows, sent as it stands; and nothing that it leaves out. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { KINDS, type Language } from '@open-presence/protocol';

import {
  inlineReferences,
  operationsOf,
  parametersOf,
} from '../../conformance/openapi-document.ts';
import { OpenApiCheck } from '../../conformance/openapi-check.ts';
import { asObject, asString, type JsonObject } from '../../conformance/value.ts';
import { restDoor } from '../../packages/gateway/src/doors/rest/rest.ts';
import { loadLanguage } from '../../packages/gateway/src/load-language.ts';
import { formsOf, lacks, mistakesOf, requestsOf, type Request } from './operations.ts';
import { sharedGateway } from '../shared.ts';
import { objectAt } from '../requests.ts';

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
    // Whatever it was compressed by is undone.
    const header = (name: string): string | undefined =>
      name === 'content-encoding' ? undefined : (answer.headers.get(name) ?? undefined);
    const told = { status: answer.status, type, bytes, header };
    try {
      described.check(request.method, request.url, told);
      return [];
    } catch (error) {
      return [`${request.of}: ${String(error)}`];
    }
  };
  for (const operation of operationsOf(document)) {
    found.push(...lacks(document, operation));
    for (const request of mistakesOf(document, operation)) {
      found.push(...(await checked(request, await answered(base, request))));
    }
    for (const request of formsOf(document, operation, id)) {
      const answer = await answered(base, request);
      const type = (answer.headers.get('content-type') ?? '').split(';')[0];
      if (type !== request.type) found.push(`${request.of} is answered as ${type}`);
      found.push(...(await checked(request, answer)));
    }
    for (const request of requestsOf(document, operation, id)) {
      const answer = await answered(base, request);
      if (answer.ok) found.push(...(await checked(request, answer)));
      else found.push(`${request.of} is answered ${answer.status}: ${await answer.text()}`);
    }
  }
  return found;
}

/** The id of an entry. */
async function kept(base: string): Promise<string> {
  const answer = await fetch(`${base}/api/seeds`, { method: 'POST', body: '{"text":"garden"}' });
  return asString(asObject(await answer.json())['id']);
}

/** The operations of a document, or of the gateway, each with the parameters of its query. */
function describedIn(document: JsonObject): string[] {
  return operationsOf(document)
    .map((operation) => {
      const names = parametersOf(operation, 'query').map(({ name }) => asString(name));
      return [operation.method, operation.path, ...names.toSorted()].join(' ');
    })
    .toSorted();
}

/** `as` makes a reader of any path present, and has no effect on a `POST`. */
function served(language: Language): string[] {
  const members = [...KINDS.flatMap((kind) => language.kinds[kind].fields), ...language.common];
  const saying = ['as', 'idempotency-key', ...members.map(({ name }) => name)];
  return restDoor.routes
    .flatMap(({ path, post, postParameters, description = {}, storesByGet }) => {
      const { parameters = [] } = description;
      const read = new Set(storesByGet === true ? saying : ['as', ...parameters]);
      const said = [...(postParameters?.taken ?? [])].filter((name) => name !== 'as');
      const operations = [['GET', path, ...[...read].toSorted()].join(' ')];
      return post === undefined
        ? operations
        : [...operations, ['POST', path, ...said.toSorted()].join(' ')];
    })
    .toSorted();
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

describe('what the OpenAPI document shows', () => {
  const gateway = sharedGateway();
  let document: JsonObject;
  let language: Language;
  before(async () => {
    ({ language } = await loadLanguage(undefined));
    document = inlineReferences(await objectAt(`${gateway.url}/openapi.json`));
  });

  it('is answered as it says, when it is sent as it stands or by mistake', async () => {
    assert.deepEqual(await complaints(gateway.url, document), []);
  });

  it('is what the gateway serves by REST, with the same parameters', () => {
    assert.deepEqual(describedIn(document), served(language));
  });

  describe('and whoever changes it is told', () => {
    const BENDS: Readonly<Record<string, [string, (item: JsonObject) => unknown, RegExp]>> = {
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
        (item) => respelled(item, '"default":{"desc', '"418":{"desc'),
        /no error is described/,
      ],
      'of a header that is not answered': [
        '/api/garden',
        (item) => respelled(item, '"Location":', '"Content-Location":'),
        /201 has no Content-Location/,
      ],
      'of a form that is not answered': [
        '/api/garden',
        (item) => respelled(item, '`text/event-stream`', '`text/csv`'),
        /as text\/csv is answered as application\/json/,
      ],
      'of a parameter without example': [
        '/api/search',
        (item) => respelled(item, '"example":"garden"', '"x":1'),
        /q has no example/,
      ],
    };
    for (const [what, [path, change, complaint]] of Object.entries(BENDS)) {
      it(what, async () => {
        const found = await complaints(gateway.url, bent(document, path, change));
        assert.match(found.join('\n'), complaint);
      });
    }

    it('of a body that is refused', async () => {
      const spelled = JSON.stringify(document).replaceAll(
        '"examples":[{"text"',
        '"examples":[{"to":1,"text"',
      );
      const refused = bent(asObject(JSON.parse(spelled)), '/api/garden', (item) => item);
      assert.match((await complaints(gateway.url, refused)).join('\n'), /is answered 422/);
    });
  });
});
