/** JSON Schemas of what tools take and return. All accept further members. */
import { KINDS, type Kind, type Language } from '@open-presence/protocol';

import type { Localization } from '../../../http/route-description.ts';
import { NUMBER_PARAMETERS } from './tool-call.ts';

type Json = string | number | boolean | null | Json[] | Schema;
interface Schema {
  [name: string]: Json;
}
type Properties = Record<string, Schema>;

export interface ObjectSchema {
  [name: string]: unknown;
  type: 'object';
  properties: Properties;
  required?: string[];
}

const TEXT: Schema = { type: 'string' };
const NUMBER: Schema = { type: 'integer', minimum: 0 };
const ENTRY: Schema = { type: 'object', properties: {}, additionalProperties: true };
/** By the type that the language file gives a field. */
const FIELD_TYPES: Readonly<Record<string, Schema>> = {
  string: TEXT,
  strings: { type: 'array', items: TEXT },
  'string or strings': { anyOf: [TEXT, { type: 'array', items: TEXT }] },
};

/** The body of an entry of this kind, and the idempotency key. */
export function contributionInput(context: Localization, kind: Kind): ObjectSchema {
  const { language, text } = context;
  const fields = [...language.kinds[kind].fields, ...language.common];
  const properties = Object.fromEntries(
    fields.map(({ name, type, suggested, meaning, example }) => [
      name,
      {
        // A suggested field may have any type.
        ...(suggested === true ? {} : FIELD_TYPES[type]),
        description: text(meaning),
        examples: [example],
      },
    ]),
  );
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: { ...properties, ...toolArguments(context, ['idempotencyKey']) },
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: true,
  };
}

/** Parameters of a listing and the name of the reader, after the tool's own arguments. */
export function readInput(
  { language, text }: Localization,
  names: readonly (keyof Language['parameters'])[],
  own: Properties = {},
): ObjectSchema {
  // Only searches rank.
  const ranks = names.includes('skip');
  const orders = [...(ranks ? ['best'] : []), 'newest', 'oldest'];
  const meaningOf = (name: keyof Language['parameters']): string =>
    text(ranks && name === 'order' ? language.pages.best : language.parameters[name]);
  const properties = Object.fromEntries(
    [...names, 'as' as const].map((name) => [
      name,
      { ...parameterType(language, name, orders), description: meaningOf(name) },
    ]),
  );
  return { type: 'object', properties: { ...own, ...properties }, additionalProperties: true };
}

function parameterType(language: Language, name: string, orders: string[]): Schema {
  if (NUMBER_PARAMETERS.includes(name)) return NUMBER;
  if (name === 'kind') return { type: 'string', enum: [...KINDS] };
  if (name === 'order') return { type: 'string', enum: orders };
  if (name === 'room') return { type: 'string', enum: language.rooms.map(({ slug }) => slug) };
  return TEXT;
}

/** Arguments that are no parameters of a listing. */
export function toolArguments(
  { language, text }: Localization,
  names: readonly (keyof Language['mcp']['arguments'])[],
): Properties {
  const types: Readonly<Properties> = {
    from: NUMBER,
    seconds: { type: 'number', minimum: 0 },
  };
  return Object.fromEntries(
    names.map((name) => [
      name,
      { ...(types[name] ?? TEXT), description: text(language.mcp.arguments[name]) },
    ]),
  );
}

/** A result: the gateway's own members, and those that visitors wrote, under `untrusted`. */
export function outputSchema(
  own: Properties,
  untrusted: Properties,
  optional: readonly string[] = [],
): ObjectSchema {
  return {
    type: 'object',
    properties: {
      ...own,
      untrusted: {
        type: 'object',
        properties: { note: TEXT, ...untrusted },
        required: ['note'],
      },
    },
    required: [...Object.keys(own).filter((name) => !optional.includes(name)), 'untrusted'],
  };
}

export const STORED = {
  id: TEXT,
  seq: NUMBER,
  kind: TEXT,
  room: TEXT,
  timestamp: TEXT,
  path: TEXT,
} satisfies Properties;

export const FIRST_CONTACT = {
  ...STORED,
  welcome: TEXT,
  next: { type: 'array', items: ENTRY },
} satisfies Properties;

/**
 * `known`: the search watermark, where words are searched. `notes`: what the gateway has to say of
 * the answer. `next`: the arguments to read on with,
 * null where nothing follows, now or later.
 */
export const LISTING = {
  head: NUMBER,
  log: TEXT,
  known: NUMBER,
  notes: { type: 'array', items: TEXT },
  // Not `type: ['object', 'null']`: some clients do not accept an array of types.
  next: { anyOf: [{ type: 'object' }, { type: 'null' }] },
  shortened: { type: 'array', items: ENTRY },
} satisfies Properties;

export const RESULTS = {
  results: {
    type: 'array',
    items: {
      type: 'object',
      properties: { entry: ENTRY, snippet: TEXT },
      required: ['entry', 'snippet'],
    },
  },
} satisfies Properties;

export const ENTRIES = { entries: { type: 'array', items: ENTRY } } satisfies Properties;
