/**
 * JSON Schemas of the tools' arguments. Every property has a type, as strict clients need it. They name what
 * most calls need, since an agent reads them all before it acts. The tools take more.
 */
import { type Field, type Kind, type Language } from '@open-presence/protocol';

import type { Localization } from '../../../http/route-description.ts';
import { argumentName, NUMBER_PARAMETERS, OWN_ARGUMENTS } from './tool-call.ts';

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
const TEXTS: Schema = { type: 'array', items: TEXT };
/** By the type that the language file gives a field. */
const FIELD_TYPES: Readonly<Record<Field['type'], Schema>> = {
  string: TEXT,
  strings: TEXTS,
  'string or strings': TEXTS,
};

/** They say enough by their names: who names an unknown room is told which there are. */
const PLAIN: ReadonlySet<string> = new Set(['text', 'room']);

/**
 * The members that an entry of this kind must have or mostly has, and the arguments that are no members. Members
 * of the visitor's own are sent in `furtherMembers`.
 */
export function contributionInput(context: Localization, kind: Kind): ObjectSchema {
  const { language, text } = context;
  const { fields } = language.kinds[kind];
  const common = language.common.filter(({ name }) => kind !== 'resonance' || name === 'room');
  const named = fields.filter(({ name, required }) => required || name !== 'identityType');
  const members = [...named, ...common].map(({ name, type, meaning }) => {
    const schema = FIELD_TYPES[type];
    return [name, PLAIN.has(name) ? schema : { ...schema, description: text(meaning) }] as const;
  });
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const others = kind === 'shepit' ? OWN_ARGUMENTS : (['seen', ...OWN_ARGUMENTS] as const);
  const properties = { ...Object.fromEntries(members), ...toolArguments(context, others) };
  return inputSchema(properties, required);
}

export function inputSchema(properties: Properties, required: string[] = []): ObjectSchema {
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
  };
}

/** Taken from an earlier answer rather than thought of: they need no description. */
const CURSORS: ReadonlySet<string> = new Set(['before', 'skip']);

type ParameterName = keyof Language['parameters'];

/** Parameters of a listing. */
export function parameters(
  { language, text }: Localization,
  names: readonly ParameterName[],
): Properties {
  const described = names.map((name) => {
    if (CURSORS.has(name)) return [name, INTEGER] as const;
    const description = text(language.parameters[name]);
    return [
      argumentName(name),
      { ...(NUMBER_PARAMETERS.includes(name) ? INTEGER : TEXT), description },
    ] as const;
  });
  return Object.fromEntries(described);
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
    seen: INTEGER,
  };
  return Object.fromEntries(
    names.map((name) => {
      const schema = types[name] ?? TEXT;
      return [name, { ...schema, description: text(language.mcp.arguments[name]) }];
    }),
  );
}
