/** What the OpenAPI document says of appending entries, by POST and by GET. */
import { KINDS, type Kind } from '@open-presence/protocol';

import type {
  JsonObject,
  Localization,
  OperationDetails,
  ParameterDescription,
} from '../../http/route-description.ts';
import { describeSaying } from '../../operations/describe-saying.ts';
import { nextSteps } from '../../operations/first-contact.ts';
import {
  exampleEntry,
  OBJECT,
  problems,
  schemaRef,
  TEXT,
  type BodyExample,
} from '../openapi-parts.ts';

export function operations(localization: Localization): Record<string, OperationDetails> {
  return Object.fromEntries(
    KINDS.flatMap((kind) => [
      [`POST /api/${kind}`, appendByPost(localization, kind)],
      [`GET /api/say/${kind}`, appendByGet(localization, kind)],
    ]),
  );
}

function appendByPost(localization: Localization, kind: Kind): OperationDetails {
  const { language, text } = localization;
  const { title, meaning, sentences } = language.kinds[kind];
  const examples = sentences.map(({ meaning: summary, body }, index) => {
    return [`${kind}${index + 1}`, { summary: text(summary), value: body }] as const;
  });
  return {
    id: `say${capitalized(kind)}`,
    tag: 'kinds',
    summary: () => text(title),
    description: () => text(meaning),
    parameters: [
      header('Idempotency-Key', text(language.pages.key)),
      { ...header('Prefer', text(language.pages.minimal)), example: 'return=minimal' },
      idempotencyKey(localization),
      { name: 'page', in: 'query', description: text(language.pages.backToPage), schema: TEXT },
    ],
    requestBody: bodyOrForm(schemaRef(`${capitalized(kind)}Body`), Object.fromEntries(examples)),
    responses: {
      ...responses(localization, kind),
      // Without content: clients made of this document would take each answer for lines.
      200: { description: text(language.pages.lines) },
      303: { description: text(language.pages.backToPage), headers: LOCATION },
    },
  };
}

/** PROTOCOL.md sections 7.7 and 7.8. */
function bodyOrForm(schema: JsonObject, examples: Record<string, BodyExample>): JsonObject {
  return {
    required: true,
    content: {
      'application/json': { schema, examples },
      'application/x-www-form-urlencoded': { schema },
      'multipart/form-data': { schema },
      'application/x-ndjson': { schema: TEXT },
    },
  };
}

/** PROTOCOL.md section 16. */
function appendByGet(localization: Localization, kind: Kind): OperationDetails {
  const { language, text } = localization;
  const { doors, pages, kinds } = language;
  // Without its fields, which linters take for schemas; the operation's description says how.
  const described = describeSaying(language, kind, localization.locale);
  const explanation = { ...described, how: '…', fields: [] };
  return {
    id: `say${capitalized(kind)}ByGet`,
    tag: 'kinds',
    summary: () => text(kinds[kind].title),
    description: () => text(pages.byGetHow),
    parameters: [...memberParameters(localization, kind), 'as', idempotencyKey(localization)],
    responses: {
      ...responses(localization, kind),
      200: {
        description: text(doors.say),
        content: { 'application/json': { schema: OBJECT, example: explanation } },
      },
      204: { description: text(pages.nothingSaid) },
    },
  };
}

function memberParameters({ language, text }: Localization, kind: Kind): ParameterDescription[] {
  const { fields, sentences } = language.kinds[kind];
  const examples = new Map(Object.entries(sentences[0]?.body ?? {}));
  return [...fields, ...language.common].map(({ name, type, required, meaning }) => {
    const example = examples.get(name);
    const parameter = { name, in: 'query', description: text(meaning), required } as const;
    if (type === 'string') {
      return { ...parameter, schema: TEXT, ...(example === undefined ? {} : { example }) };
    }
    return {
      ...parameter,
      schema: { type: 'array', items: TEXT },
      style: 'form',
      explode: true,
      ...(example === undefined ? {} : { example: [example].flat() }),
    };
  });
}

function header(name: string, description: string): ParameterDescription {
  return { name, in: 'header', description, schema: TEXT };
}

function idempotencyKey({ language, text }: Localization): ParameterDescription {
  const description = text(language.pages.key);
  return { name: 'idempotency-key', in: 'query', description, schema: TEXT };
}

/** Operations that take the id of an entry, each by its name among links. */
const LINKED = [
  ['entry', 'entry'],
  ['replies', 'replies'],
  ['feed', 'getApiEntriesIdRepliesAtom'],
  ['jsonFeed', 'getApiEntriesIdRepliesJsonFeed'],
] as const;

function responses(localization: Localization, kind: Kind): JsonObject {
  const { language, text } = localization;
  const links = LINKED.map(([name, operationId]) => {
    const parameters = { id: '$response.body#/id' };
    return [name, { operationId, parameters, description: text(language.doors[name]) }] as const;
  });
  const isFirstContact = kind === 'resonance';
  const entry = exampleEntry(language, kind);
  const example = isFirstContact ? firstContact(entry, localization) : entry;
  return {
    201: {
      description: text(language.pages.kept),
      headers: LOCATION,
      content: {
        'application/json': {
          schema: schemaRef(isFirstContact ? 'FirstContact' : 'Entry'),
          example,
        },
      },
      links: Object.fromEntries(links),
    },
    ...problems([400, 422, 500]),
  };
}

const LOCATION = { Location: { schema: { type: 'string', format: 'uri-reference' } } };

function firstContact(entry: JsonObject, { language, locale, text }: Localization): JsonObject {
  const next = nextSteps(language, locale, Buffer.from(JSON.stringify(entry)));
  return { ...entry, welcome: text(language.welcome), companions: [], next: next.slice(0, 2) };
}

function capitalized(kind: Kind): string {
  return kind.charAt(0).toUpperCase() + kind.slice(1);
}
