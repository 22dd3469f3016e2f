/** What the OpenAPI descriptions of several doors share. */
import type { Kind, Language } from '@open-presence/protocol';

import type { JsonObject, Localization } from '../http/route-description.ts';

/** An address that nobody has (RFC 2606), for examples with absolute links. */
export const EXAMPLE_ADDRESS = 'https://presence.example';

export const TEXT: JsonObject = { type: 'string' };
export const OBJECT: JsonObject = { type: 'object' };

export function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

export function objectWith(required: readonly string[], properties: JsonObject): JsonObject {
  return { type: 'object', required, properties, additionalProperties: true };
}

/** A reference to a shared schema. */
export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** The key of a status among responses: those from 500 on share a description. */
export function responseKey(status: number): string {
  return status >= 500 ? '5XX' : String(status);
}

/** References to the errors that have these statuses. */
export function problems(statuses: readonly number[]): JsonObject {
  const refs = statuses.map(responseKey).map((key) => {
    return [key, { $ref: `#/components/responses/Problem${key}` }] as const;
  });
  return Object.fromEntries(refs);
}

/** An entry as it is answered, of a kind, in a room of the language. */
export function exampleEntry(language: Language, kind: Kind = 'garden'): JsonObject {
  const own = language.entry.map(({ name, example }) => [name, example] as const);
  const { room, sentences } = language.kinds[kind];
  return { ...Object.fromEntries(own), kind, room, ...sentences[0]?.body };
}

export function exampleRooms({ language, text }: Localization): readonly JsonObject[] {
  return language.rooms.map(({ slug, title, description }) => ({
    slug,
    title: text(title),
    description: text(description),
    path: `/api/rooms/${slug}`,
    entries: 0,
    latest: null,
  }));
}

const ID = { type: ['string', 'integer', 'null'] };
const ERROR = objectWith(['code', 'message'], {
  code: { type: 'integer' },
  message: TEXT,
  data: {},
});

/** An answer of JSON-RPC 2.0. */
export const JSON_RPC_SCHEMAS: JsonObject = {
  JsonRpcAnswer: {
    oneOf: [
      objectWith(['jsonrpc', 'id', 'result'], {
        jsonrpc: { const: '2.0' },
        id: ID,
        result: OBJECT,
      }),
      objectWith(['jsonrpc', 'id', 'error'], { jsonrpc: { const: '2.0' }, id: ID, error: ERROR }),
    ],
  },
};

export interface BodyExample {
  readonly summary: string;
  readonly value: JsonObject;
}

/** A request body in JSON, with examples by name. */
export function jsonBody(
  schema: JsonObject,
  examples: Readonly<Record<string, BodyExample>>,
): JsonObject {
  return { required: true, content: { 'application/json': { schema, examples } } };
}
