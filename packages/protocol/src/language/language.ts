/**
 * Finds the locale that a caller prefers, and gives texts in it.
 *
 * Does not know where a language comes from: `language-file.ts` parses one.
 *
 * Invariant: The packaged language is complete and has the texts of the interface.
 * Test: `packages/protocol/src/language/language.test.ts` “matches its schema, even after the schema
 *   has been through JSON” “shows the rooms of the interface, character for character”
 */

/** Every text of a language exists in each of these. */
export const LOCALES = ['uk', 'en'] as const;
export type Locale = (typeof LOCALES)[number];

export interface LocalizedText extends Readonly<Record<Locale, string>> {
  /** The locale for a caller that prefers none of ours; `en` if absent. */
  readonly shown?: Locale;
}

/** The contact of a language as a URI, if it has one: an e-mail address becomes a `mailto:`. */
export function contactUri(contact: string | undefined): string | undefined {
  return contact === undefined || /^https?:/.test(contact) ? contact : `mailto:${contact}`;
}

/** The text in the locale; without a locale, the form that is shown by default. */
export function localize(text: LocalizedText, locale: Locale | undefined): string {
  return text[locale ?? text.shown ?? 'en'];
}

/** An element for one of our languages or `*`: its region or script (RFC 4647 section 2.2), and its weight. */
const ELEMENT = new RegExp(
  String.raw`(?:^|,)\s*(${LOCALES.join('|')}|\*)((?:-[a-z0-9*]+)*)\s*` +
    String.raw`(?:;\s*q\s*=\s*(0(?:\.\d*)?|1(?:\.0*)?)\s*(?:;[^,]*)?)?(?=,|$)`,
  'gi',
);

/**
 * The locale that an `Accept-Language` header asks for (RFC 9110 section 12.5.4), or undefined if it
 * prefers none of ours: `*` alone is no preference. The highest weight wins; of equal weights, the locale
 * named first, and a named one before one that only `*` covers. Skips malformed elements. Takes time in
 * proportion to the header's length.
 */
export function localeOf(acceptLanguage: string | undefined): Locale | undefined {
  if (acceptLanguage === undefined) return undefined;
  const named = new Map<string, number>();
  let others = 0;
  for (const [, spelledName = '', subtags, spelled = '1'] of acceptLanguage.matchAll(ELEMENT)) {
    const language = spelledName.toLowerCase();
    const weight = Number(spelled);
    if (language === '*') others = Math.max(others, weight);
    // `en-GB;q=0` refuses one region only, so it does not exclude the locale.
    else if (weight > 0 || subtags === '' || subtags === '-*')
      named.set(language, Math.max(named.get(language) ?? 0, weight));
  }
  const unnamed = LOCALES.filter((locale) => !named.has(locale));
  // If only `*` covers our locales, it expresses no preference.
  if (named.size > 0 && others > 0) for (const locale of unnamed) named.set(locale, others);
  let best: Locale | undefined;
  let most = 0;
  for (const [language, weight] of named) {
    const locale = LOCALES.find((candidate) => candidate === language);
    if (weight > most) [best, most] = [locale, weight];
  }
  return best;
}
