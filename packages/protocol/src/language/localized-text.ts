/** Every text of the language exists in each of these. */
export const LOCALES = ['uk', 'en'] as const;
export type Locale = (typeof LOCALES)[number];

export interface LocalizedText extends Readonly<Record<Locale, string>> {
  /** For a caller that prefers none of them; `en` if absent. */
  readonly shown?: Locale;
}
