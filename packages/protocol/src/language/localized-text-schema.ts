import { Type } from 'typebox';

import { LOCALES, type LocalizedText } from './language.ts';

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
