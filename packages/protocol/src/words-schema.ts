/** Words: one text in every tongue, as every human text of the language is written. */
import { Type, type Static } from 'typebox';

/** The tongues that every text is written in. */
export const TONGUES = ['uk', 'en'] as const;
export type Tongue = (typeof TONGUES)[number];

/** What a text must match: anything but nothing. */
export const TEXT_PATTERN = '\\S';

export const WordsDefinition = Type.Object(
  {
    uk: Type.String({ pattern: TEXT_PATTERN, description: 'In Ukrainian.' }),
    en: Type.String({ pattern: TEXT_PATTERN, description: 'In English.' }),
    shown: Type.Optional(
      Type.Enum(TONGUES, {
        default: 'en',
        description: 'Which of the two is given to a caller that asks for neither.',
      }),
    ),
  },
  { additionalProperties: false, title: 'Words', description: 'One text in every tongue.' },
);
export type Words = Static<typeof WordsDefinition>;

/** A schema for words in one place of the language. */
export function words(description: string): ReturnType<typeof Type.Unsafe<Words>> {
  return Type.Unsafe<Words>({ $ref: '#/$defs/words', description });
}
