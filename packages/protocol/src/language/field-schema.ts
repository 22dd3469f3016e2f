/** Schemas of fields, the members of a body. A language cannot change those that the interface or the protocol fixes. */
import { Type, type Static, type TArray, type TSchema, type TUnsafe } from 'typebox';

import { NON_BLANK_PATTERN, localizedText } from './schema-parts.ts';

/** A member whose name and type the interface or the protocol fixes. */
export interface FixedField {
  readonly name: string;
  readonly type: 'string' | 'strings' | 'string or strings';
  readonly required: boolean;
}

const JSON_TYPES = {
  string: { type: 'string' },
  strings: { type: 'array', items: { type: 'string' } },
  'string or strings': { type: ['string', 'array'], items: { type: 'string' } },
} as const;

/** The fixed fields of every kind of entry. */
export const COMMON_FIELDS: readonly FixedField[] = [
  { name: 'room', type: 'string', required: false },
  { name: 'to', type: 'string or strings', required: false },
  { name: 'inReplyTo', type: 'string', required: false },
];

/** A language may suggest further fields to a visitor, but not require them. */
function otherFieldsAreSuggestions(fixed: readonly FixedField[]): TSchema {
  const names = fixed.map((field) => field.name);
  const other = names.length === 0 ? {} : { not: { enum: names } };
  return {
    if: { required: ['name'], properties: { name: other } },
    then: {
      description: 'must have "required: false" and "suggested: true": only settled fields bind',
      required: ['suggested'],
      properties: { required: { const: false }, suggested: { const: true } },
    },
  };
}

const exampleMatchesType: readonly TSchema[] = Object.entries(JSON_TYPES).map(
  ([type, example]) => ({
    if: { required: ['type'], properties: { type: { const: type } } },
    then: { properties: { example }, description: `must have an example that is ${type}` },
  }),
);

function requireFixedFields(fixed: readonly FixedField[]): { allOf?: TSchema[] } {
  if (fixed.length === 0) return {};
  return {
    allOf: fixed.map(({ name, type, required }) => ({
      description: `must list "${name}" with "type: ${type}" and "required: ${required}"`,
      contains: {
        required: ['name', 'type', 'required'],
        properties: {
          name: { const: name },
          type: { const: type },
          required: { const: required },
          suggested: { const: false },
        },
      },
    })),
  };
}

const FieldProperties = {
  name: Type.String({ pattern: NON_BLANK_PATTERN }),
  type: Type.Enum(['string', 'strings', 'string or strings'], {
    description: '`strings` is an array of strings.',
  }),
  required: Type.Boolean({ description: 'Whether a body without it is refused.' }),
  suggested: Type.Optional(
    Type.Boolean({ description: 'Advice only: a value of any type is welcome.', default: false }),
  ),
  meaning: localizedText('What it says.'),
  example: Type.Unsafe<string | string[]>(JSON_TYPES['string or strings']),
};
const FieldDefinition = Type.Object(FieldProperties);
type FieldDefinition = typeof FieldDefinition;
export type Field = Static<FieldDefinition>;

/** A list of fields that has all fixed ones, unchanged. */
export function fieldListSchema(
  fixed: readonly FixedField[],
  description: string,
): TArray<FieldDefinition> {
  const field = Type.Object(FieldProperties, {
    additionalProperties: false,
    allOf: [...exampleMatchesType, otherFieldsAreSuggestions(fixed)],
  });
  return Type.Array(field, { ...requireFixedFields(fixed), description });
}

/** A body in which the fixed and the common members have their types. */
export function bodySchema(fixed: readonly FixedField[]): TUnsafe<Record<string, unknown>> {
  const all = [...fixed, ...COMMON_FIELDS];
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    required: fixed.filter((field) => field.required).map((field) => field.name),
    properties: Object.fromEntries(all.map((field) => [field.name, JSON_TYPES[field.type]])),
    description: 'A body that works when it is sent as it stands.',
  });
}
