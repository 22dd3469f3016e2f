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

/** An element for one of our languages, with any region or script (RFC 4647 section 2.2), and its weight. */
const ELEMENT = new RegExp(
  String.raw`(?:^|,)\s*(${LOCALES.join('|')})(?:-[a-z0-9*]+)*\s*` +
    String.raw`(?:;\s*q\s*=\s*(0(?:\.\d*)?|1(?:\.0*)?)\s*(?:;[^,]*)?)?(?=,|$)`,
  'gi',
);

/**
 * The locale that an `Accept-Language` header asks for (RFC 9110 section 12.5.4), or undefined if it names none of
 * ours: `*` is no preference. The highest weight wins; of equal weights, the locale named first. Skips malformed
 * elements.
 */
export function localeOf(acceptLanguage = ''): Locale | undefined {
  let best: Locale | undefined;
  let most = 0;
  for (const [, name = '', weight = '1'] of acceptLanguage.matchAll(ELEMENT)) {
    if (Number(weight) <= most) continue;
    most = Number(weight);
    best = LOCALES.find((locale) => locale === name.toLowerCase());
  }
  return best;
}
