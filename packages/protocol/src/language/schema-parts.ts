import {
  type Static,
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from 'typebox';

import { LOCALES, type LocalizedText } from './language.ts';

/** An object without further members. */
export function closedObject<Properties extends TProperties>(
  properties: Properties,
  options: TObjectOptions = {},
): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** An object with all these members, of one type, and no others. */
export function closedRecord<Name extends string, Value extends TSchema>(
  names: readonly Name[],
  value: Value,
): TUnsafe<Record<Name, Static<Value>>> {
  const properties = Object.fromEntries(names.map((name) => [name, value]));
  return Type.Unsafe<Record<Name, Static<Value>>>(closedObject(properties));
}

export const NON_BLANK_PATTERN = '\\S';

export const LocalizedTextDefinition = Type.Object(
  {
    uk: Type.String({ pattern: NON_BLANK_PATTERN, description: 'In Ukrainian.' }),
    en: Type.String({ pattern: NON_BLANK_PATTERN, description: 'In English.' }),
    shown: Type.Optional(
      Type.Enum(LOCALES, {
        default: 'en',
        description: 'Which of the two is given to a caller that asks for neither.',
      }),
    ),
  },
  { additionalProperties: false, title: 'Words', description: 'One text in every tongue.' },
);

/** Refers to `LocalizedTextDefinition`, with a description of this use. */
export function localizedText(description: string): ReturnType<typeof Type.Unsafe<LocalizedText>> {
  return Type.Unsafe<LocalizedText>({ $ref: '#/$defs/words', description });
}

/** The members of what has a title. */
export const TITLED = {
  title: localizedText('Its title.'),
  meaning: localizedText('What it is for, or how to use it.'),
};
