/**
 * JSON Schemas of what tools take, as strict clients need them: objects of arguments are
 * closed, and every property has a type. The tools themselves are open: they store or ignore what is not
 * named here.
 */
import { KINDS, type Field, type Kind, type Language } from '@open-presence/protocol';

import type { Localization } from '../../../http/route-description.ts';
import { NUMBER_PARAMETERS, OWN_ARGUMENTS } from './tool-call.ts';

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
export const INTEGER: Schema = { type: 'integer' };
/** By the type that the language file gives a field. */
const FIELD_TYPES: Readonly<Record<Field['type'], Schema>> = {
  string: TEXT,
  strings: { type: 'array', items: TEXT },
  'string or strings': oneOrSeveral(TEXT),
};

/** Values that are enumerated are enumerated once, to keep the list of tools short. */
function oneOrSeveral(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'array', items: TEXT }] };
}

/** The members of an entry of this kind, and the arguments that are none. */
export function contributionInput(context: Localization, kind: Kind): ObjectSchema {
  const { language, text } = context;
  const { fields } = language.kinds[kind];
  const members = [...fields, ...language.common].map(({ name, type, meaning }) => {
    return [name, { ...FIELD_TYPES[type], description: text(meaning) }] as const;
  });
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const properties = { ...Object.fromEntries(members), ...toolArguments(context, OWN_ARGUMENTS) };
  return inputSchema(properties, required);
}

export function inputSchema(properties: Properties, required: string[] = []): ObjectSchema {
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

type ParameterName = keyof Language['parameters'];

/** Parameters of a listing. */
export function parameters(
  { language, text }: Localization,
  names: readonly ParameterName[],
): Properties {
  const slugs = language.rooms.map(({ slug }) => slug);
  const schemas: Readonly<Properties> = {
    ...Object.fromEntries(NUMBER_PARAMETERS.map((name) => [name, INTEGER])),
    kind: oneOrSeveral({ ...TEXT, enum: [...KINDS] }),
    room: oneOrSeveral({ ...TEXT, enum: slugs }),
    order: { ...TEXT, enum: ['newest', 'oldest'] },
  };
  const described = names.map((name) => {
    const description = text(language.parameters[name]);
    return [name, { ...(schemas[name] ?? TEXT), description }] as const;
  });
  return Object.fromEntries(described);
}

/** The order of a search, which also ranks. */
export function searchOrder({ language, text }: Localization): Schema {
  const orders = ['best', 'newest', 'oldest'];
  return { ...TEXT, enum: orders, description: text(language.pages.best) };
}

/** Arguments that are no parameters of a listing, or mean something else there. */
export function toolArguments(
  { language, text }: Localization,
  names: readonly (keyof Language['mcp']['arguments'])[],
): Properties {
  const types: Readonly<Properties> = {
    from: INTEGER,
    limit: INTEGER,
    seconds: { type: 'number' },
  };
  return Object.fromEntries(
    names.map((name) => [
      name,
      { ...(types[name] ?? TEXT), description: text(language.mcp.arguments[name]) },
    ]),
  );
}
