/** Words: one text in every locale, as every human text of the language is written. */

/** The locales that every text is written in. */
export const LOCALES = ['uk', 'en'] as const;
export type Locale = (typeof LOCALES)[number];

export interface LocalizedText {
  readonly uk: string;
  readonly en: string;
  /** Which of the two is given to a caller that asks for neither; `en` if it isn't said. */
  readonly shown?: Locale;
}
