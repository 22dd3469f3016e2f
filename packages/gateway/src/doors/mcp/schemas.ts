/** What tools take and give, in the words of the language. All take further members. */
import {
  FILTER_NAMES,
  KINDS,
  localize,
  type Kind,
  type Language,
  type Locale,
} from '@open-presence/protocol';

type Json = string | number | boolean | null | Json[] | Schema;
interface Schema {
  [name: string]: Json;
}

export interface ObjectSchema {
  [name: string]: unknown;
  type: 'object';
  properties: Record<string, Schema>;
  required?: string[];
}

const TEXT: Schema = { type: 'string' };
const NUMBER: Schema = { type: 'integer', minimum: 0 };
const ENTRY: Schema = { type: 'object', properties: {}, additionalProperties: true };
const TYPES: Readonly<Record<string, Schema>> = {
  string: TEXT,
  strings: { type: 'array', items: TEXT },
  'string or strings': { anyOf: [TEXT, { type: 'array', items: TEXT }] },
};
const NUMBERS = ['limit', 'after', 'before', 'skip'];

/** The parameters of a listing, except its order. */
const UNORDERED = [
  'q',
  'kind',
  'room',
  ...FILTER_NAMES,
  'since',
  'until',
  'limit',
  'before',
  'after',
] as const;

export const LISTING_PARAMETERS = [...UNORDERED, 'order'] as const;
/** Its order is that in which it comes. */
export const NEWS_PARAMETERS = UNORDERED;
export const SEARCH_PARAMETERS = [...LISTING_PARAMETERS, 'skip'] as const;

/** The body of an entry of this kind, and the key that makes trying again safe. */
export function sayingInput(
  language: Language,
  kind: Kind,
  locale: Locale | undefined,
): ObjectSchema {
  const fields = [...language.kinds[kind].fields, ...language.common];
  const properties = Object.fromEntries(
    fields.map(({ name, type, suggested, meaning, example }) => [
      name,
      // What is only suggested may be of any type.
      {
        ...(suggested === true ? {} : TYPES[type]),
        description: localize(meaning, locale),
        examples: [example],
      },
    ]),
  );
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: { ...properties, ...own(language, ['idempotencyKey'], locale) },
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: true,
  };
}

export function readingInput(
  language: Language,
  names: readonly (keyof Language['parameters'])[],
  locale: Locale | undefined,
): ObjectSchema {
  // Only a search has its best.
  const ranks = names.includes('skip');
  const orders = [...(ranks ? ['best'] : []), 'newest', 'oldest'];
  const meaningOf = (name: keyof Language['parameters']): string =>
    localize(ranks && name === 'order' ? language.pages.best : language.parameters[name], locale);
  const properties = Object.fromEntries(
    [...names, 'as' as const].map((name) => [
      name,
      { ...typeOf(language, name, orders), description: meaningOf(name) },
    ]),
  );
  return { type: 'object', properties, additionalProperties: true };
}

function typeOf(language: Language, name: string, orders: string[]): Schema {
  if (NUMBERS.includes(name)) return NUMBER;
  if (name === 'kind') return { type: 'string', enum: [...KINDS] };
  if (name === 'order') return { type: 'string', enum: orders };
  if (name === 'room') return { type: 'string', enum: language.rooms.map(({ slug }) => slug) };
  return TEXT;
}

/** Arguments that no listing has. */
export function own(
  language: Language,
  names: readonly (keyof Language['mcp']['arguments'])[],
  locale: Locale | undefined,
): Record<string, Schema> {
  const types: Readonly<Record<string, Schema>> = {
    from: NUMBER,
    seconds: { type: 'number', minimum: 0 },
  };
  return Object.fromEntries(
    names.map((name) => [
      name,
      { ...(types[name] ?? TEXT), description: localize(language.mcp.arguments[name], locale) },
    ]),
  );
}

/**
 * A result: the gateway's own members, those in `sometimes` not always, and what visitors said under
 * `untrusted`.
 */
export function output(
  properties: Record<string, Schema>,
  words: Record<string, Schema>,
  sometimes: readonly string[] = [],
): ObjectSchema {
  return {
    type: 'object',
    properties: {
      ...properties,
      untrusted: {
        type: 'object',
        properties: { note: TEXT, ...words },
        required: ['note'],
      },
    },
    required: [...Object.keys(properties).filter((name) => !sometimes.includes(name)), 'untrusted'],
  };
}

export const KEPT: Record<string, Schema> = {
  id: TEXT,
  seq: NUMBER,
  kind: TEXT,
  room: TEXT,
  timestamp: TEXT,
  path: TEXT,
};

export const FIRST_CONTACT: Record<string, Schema> = {
  ...KEPT,
  welcome: TEXT,
  next: { type: 'array', items: ENTRY },
};

/**
 * `known`: up to which seq words are known, where words are looked for. `next`: the arguments to read
 * on with, null where nothing is left and, in its order, nothing can come.
 */
export const LISTED: Record<string, Schema> = {
  head: NUMBER,
  known: NUMBER,
  // Not all clients know a list of types.
  next: { anyOf: [{ type: 'object' }, { type: 'null' }] },
  shortened: { type: 'array', items: ENTRY },
};

export const RESULTS: Record<string, Schema> = {
  results: {
    type: 'array',
    items: {
      type: 'object',
      properties: { entry: ENTRY, snippet: TEXT },
      required: ['entry', 'snippet'],
    },
  },
};

export const ENTRIES: Record<string, Schema> = { entries: { type: 'array', items: ENTRY } };
