/** The agent card against what A2A defines, and against what its SDK reads. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { AgentCard } from '@a2a-js/sdk';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { asObject, type JsonObject } from '../../conformance/value.ts';
import { CARD } from './card-schema.ts';
import { sharedGateway } from '../shared.ts';

const ajv = new Ajv2020({ strict: true });
addFormats.default(ajv);

const valid = ajv.compile(CARD);

/** A card with all members that A2A defines, also those that this gateway's lacks. */
const FULL = {
  name: 'A',
  description: 'An agent.',
  version: '1.0.0',
  documentationUrl: 'https://a.example/d',
  iconUrl: 'https://a.example/i',
  provider: { url: 'https://a.example', organization: 'A' },
  supportedInterfaces: [
    { url: 'https://a.example/a', protocolBinding: 'GRPC', tenant: 't', protocolVersion: '1.0' },
  ],
  capabilities: {
    streaming: true,
    pushNotifications: true,
    extendedAgentCard: true,
    extensions: [{ uri: 'https://e.example', description: 'E', required: true, params: { a: 1 } }],
  },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['application/json'],
  skills: [
    {
      id: 's',
      name: 'S',
      description: 'A skill.',
      tags: ['t'],
      examples: ['e'],
      inputModes: ['text/plain'],
      outputModes: ['image/png'],
      securityRequirements: [{ schemes: { key: { list: ['a'] } } }],
    },
  ],
  securityRequirements: [{ schemes: { code: { list: ['a', 'b'] } } }],
  securitySchemes: {
    key: { apiKeySecurityScheme: { description: 'd', location: 'header', name: 'X-Key' } },
    http: { httpAuthSecurityScheme: { description: 'd', scheme: 'Bearer', bearerFormat: 'JWT' } },
    openId: { openIdConnectSecurityScheme: { description: 'd', openIdConnectUrl: 'https://o' } },
    mtls: { mtlsSecurityScheme: { description: 'd' } },
    code: {
      oauth2SecurityScheme: {
        description: 'd',
        oauth2MetadataUrl: 'https://m',
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://a',
            tokenUrl: 'https://t',
            refreshUrl: 'https://r',
            scopes: { a: 'A' },
            pkceRequired: true,
          },
        },
      },
    },
    device: {
      oauth2SecurityScheme: {
        flows: {
          deviceCode: {
            deviceAuthorizationUrl: 'https://a',
            tokenUrl: 'https://t',
            refreshUrl: 'https://r',
            scopes: { a: 'A' },
          },
        },
      },
    },
  },
  signatures: [{ protected: 'e30', signature: 'AA', header: { kid: '1' } }],
};

const VALUES = [null, 7, {}, [], 'text', true];

/** Every value that differs from this one in one place, by a wrong type or a member too many. */
function* spoiled(value: unknown, where = ''): Generator<[what: string, value: unknown]> {
  for (const wrong of VALUES) {
    if (typeOf(wrong) !== typeOf(value)) yield [`${where} is ${JSON.stringify(wrong)}`, wrong];
  }
  if (isObject(value)) yield [`${where} has a surplus`, { ...value, surplus: 1 }];
  yield* insideOf(value, where, spoiled);
}

/** Every value that lacks one member of this one. */
function* lacking(value: unknown, where = ''): Generator<[what: string, value: unknown]> {
  if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const { [name]: _, ...others } = value;
      yield [`${where}/${name}`, others];
    }
  }
  yield* insideOf(value, where, lacking);
}

function* insideOf(
  value: unknown,
  where: string,
  changed: (value: unknown, where: string) => Generator<[string, unknown]>,
): Generator<[string, unknown]> {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      for (const [what, other] of changed(item, `${where}/${at}`)) {
        yield [what, value.with(at, other)];
      }
    }
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      for (const [what, other] of changed(member, `${where}/${name}`)) {
        yield [what, { ...value, [name]: other }];
      }
    }
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeOf(value) === 'object';
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const OPTIONAL = /^\/(?:documentationUrl|provider|capabilities\/\w+|skills\/\d+\/examples)$/;

function assertValid(card: unknown): void {
  assert.ok(valid(card), ajv.errorsText(valid.errors));
}

suite('the agent card', () => {
  const gateway = sharedGateway();

  const cardAt = async (path: string, headers: Record<string, string> = {}): Promise<JsonObject> =>
    asObject(await (await fetch(gateway.url + path, { headers })).json());
  const CARD_PATH = '/.well-known/agent-card.json';

  test('is as A2A 1.0 defines it, in every locale', async () => {
    for (const locale of ['en', 'uk', 'de']) {
      assertValid(await cardAt(CARD_PATH, { 'Accept-Language': locale }));
    }
  });

  test('would be found wrong if a thing in it were', async () => {
    const card = await cardAt(CARD_PATH);
    for (const [what, wrong] of spoiled(card)) {
      assert.ok(!valid(wrong), `it should be wrong that ${what}`);
    }
    for (const [what, other] of lacking(card)) {
      assert.equal(valid(other), OPTIONAL.test(what), `${what} is missing`);
    }
  });

  test('is the same whatever version the caller names', async () => {
    const card = await cardAt(CARD_PATH);
    for (const version of ['0.3', '1.0', '7.0']) {
      assert.deepEqual(await cardAt(CARD_PATH, { 'A2A-Version': version }), card);
    }
  });

  test('is read by the SDK with all that it has', async () => {
    const card = await cardAt(CARD_PATH);
    assert.deepEqual(AgentCard.toJSON(AgentCard.fromJSON(card)), card);
  });

  test('may have more, as the SDK knows it', () => {
    assertValid(FULL);
    assert.deepEqual(AgentCard.toJSON(AgentCard.fromJSON(FULL)), FULL);
    const two = { ...FULL.securitySchemes.key, ...FULL.securitySchemes.http };
    assert.ok(!valid({ ...FULL, securitySchemes: { two } }), 'a scheme is one of several');
    assert.ok(!valid({ ...FULL, securitySchemes: { none: {} } }));
    for (const name of ['supportedInterfaces', 'skills', 'defaultInputModes']) {
      assert.ok(!valid({ ...FULL, [name]: [] }), `${name} has at least one`);
    }
    for (const name of ['name', 'description', 'version']) {
      assert.ok(!valid({ ...FULL, [name]: '' }), `${name} is not empty`);
    }
  });
});
