/** Every text of the language exists in each of these. */
export const LOCALES = ['uk', 'en'] as const;
export type Locale = (typeof LOCALES)[number];

export interface LocalizedText {
  readonly uk: string;
  readonly en: string;
  /** For a caller that prefers neither; `en` if absent. */
  readonly shown?: Locale;
}
