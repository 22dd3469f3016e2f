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
const INTEGER: Schema = { type: 'integer' };
const LIST: Schema = { type: 'array' };
/** Not `type: ['object', 'null']`: some clients do not accept an array of types. */
const NEXT: Schema = { anyOf: [{ type: 'object' }, { type: 'null' }] };
/** By the type that the language file gives a field. */
const FIELD_TYPES: Readonly<Record<string, Schema>> = {
  string: TEXT,
  strings: { type: 'array', items: TEXT },
  'string or strings': { anyOf: [TEXT, { type: 'array', items: TEXT }] },
};

/**
 * Every client gets the schemas of all tools, so what several have in common is described by one of
 * them: by the tool that answers somebody, and by the tool `read`.
 */
const DESCRIBED_KIND: Kind = 'garden';

/** The body of an entry of this kind, and the idempotency key. */
export function contributionInput(context: Localization, kind: Kind): ObjectSchema {
  const { language, text } = context;
  const { fields } = language.kinds[kind];
  const isDescribed = kind === DESCRIBED_KIND;
  const properties: Properties = {};
  for (const { name, type, suggested, meaning } of fields) {
    // A suggested field may have any type.
    const schema = suggested === true ? {} : FIELD_TYPES[type];
    properties[name] = { ...schema, description: text(meaning) };
  }
  for (const { name, type, meaning } of language.common) {
    properties[name] = {
      ...FIELD_TYPES[type],
      ...(isDescribed ? { description: text(meaning) } : {}),
    };
  }
  const key = isDescribed ? toolArguments(context, ['idempotencyKey']) : { idempotencyKey: TEXT };
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: { ...properties, ...key },
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: true,
  };
}

type ParameterName = keyof Language['parameters'];

/** Arguments of the tool's own, and parameters that the tool `read` describes. */
export function readInput(names: readonly ParameterName[], own: Properties = {}): ObjectSchema {
  const parameters = names.map((name) => [name, parameterType(name)] as const);
  return {
    type: 'object',
    properties: { ...Object.fromEntries(parameters), ...own, as: own['as'] ?? TEXT },
    additionalProperties: true,
  };
}

/** The parameters with their descriptions. */
export function describedParameters(
  { language, text }: Localization,
  names: readonly ParameterName[],
): Properties {
  const values: Readonly<Record<string, readonly string[]>> = {
    kind: KINDS,
    order: ['newest', 'oldest'],
    room: language.rooms.map(({ slug }) => slug),
  };
  const parameters = names.map((name) => {
    const { [name]: listed } = values;
    const schema = {
      ...parameterType(name),
      ...(listed === undefined ? {} : { enum: [...listed] }),
    };
    return [name, { ...schema, description: text(language.parameters[name]) }] as const;
  });
  return Object.fromEntries(parameters);
}

function parameterType(name: string): Schema {
  return NUMBER_PARAMETERS.includes(name) ? INTEGER : TEXT;
}

/** The order of a search, which also ranks. */
export function searchOrder({ language, text }: Localization): Schema {
  const orders = ['best', 'newest', 'oldest'];
  return { ...TEXT, enum: orders, description: text(language.pages.best) };
}

/** Arguments that are no parameters of a listing. */
export function toolArguments(
  { language, text }: Localization,
  names: readonly (keyof Language['mcp']['arguments'])[],
): Properties {
  const types: Readonly<Properties> = {
    from: INTEGER,
    seconds: { type: 'number' },
  };
  return Object.fromEntries(
    names.map((name) => [
      name,
      { ...(types[name] ?? TEXT), description: text(language.mcp.arguments[name]) },
    ]),
  );
}

/**
 * A result: members that it always has, and the lists of visitors' words under `untrusted`, which is
 * absent where there are none.
 */
export function outputSchema(members: Properties, untrusted: Properties = {}): ObjectSchema {
  const properties =
    Object.keys(untrusted).length === 0
      ? members
      : { ...members, untrusted: { type: 'object', properties: untrusted } };
  return { type: 'object', properties, required: Object.keys(members) };
}

export const STORED = { id: TEXT, seq: INTEGER, path: TEXT } satisfies Properties;
export const FIRST_CONTACT = { ...STORED, next: LIST } satisfies Properties;
export const COMPANIONS = { companions: LIST } satisfies Properties;
/** `next`: the arguments to read on with, null where nothing follows, now or later. */
export const LISTING = { head: INTEGER, log: TEXT, next: NEXT } satisfies Properties;
export const ENTRIES = { entries: LIST } satisfies Properties;
export const RESULTS = { results: LIST } satisfies Properties;
export const PIECE = { bytes: INTEGER, next: NEXT } satisfies Properties;
export const ENTRY = { entry: { type: 'object' }, text: TEXT } satisfies Properties;
export const PRESENCE = {
  head: INTEGER,
  log: TEXT,
  more: { type: 'boolean' },
} satisfies Properties;
export const VISITORS = { here: LIST, lately: LIST } satisfies Properties;
