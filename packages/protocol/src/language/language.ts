/**
 * Which locale a caller prefers, and the text for it.
 *
 * Does not know where a language comes from; `language-file.ts` parses one.
 */
import { LOCALES, type Locale, type LocalizedText } from './localized-text.ts';
import { weightedList, weightIn } from '../weighted-list.ts';

/** The contact of a language as a URI, if it has one: an e-mail address becomes a `mailto:`. */
export function contactUri(contact: string | undefined): string | undefined {
  return contact === undefined || /^https?:/.test(contact) ? contact : `mailto:${contact}`;
}

/** Without a locale: the form shown by default. */
export function localize(text: LocalizedText, locale: Locale | undefined): string {
  return text[locale ?? text.shown ?? 'en'];
}

const RANGES = `(?:${LOCALES.join('|')}|\\*)(?:-[a-z0-9*]+)*`;
/** Its first group is the language, without region or script (RFC 4647 section 2.2). */
const RANGE = /^(\*|[a-z]+)(?:-[a-z0-9*]+)*$/;
/** An `Accept-Language` element takes no parameter but a weight from 0 to 1. */
const WEIGHT = /^\s*q\s*=\s*(?:0(?:\.\d*)?|1(?:\.0*)?)\s*(?:;|$)/i;

/**
 * The locale that an `Accept-Language` header asks for (RFC 9110 section 12.5.4), or undefined
 * where it prefers none of ours: `*` alone is no preference. The highest weight wins, then the
 * locale named first; a named locale wins over one that only `*` covers. Malformed elements are
 * skipped. Takes time in proportion to the header's length.
 */
export function localeOf(acceptLanguage: string | undefined): Locale | undefined {
  if (acceptLanguage === undefined) return undefined;
  const named = new Map<string, number>();
  let others = 0;
  for (const element of weightedList(acceptLanguage, RANGES)) {
    const { name, parameters } = element;
    const language = RANGE.exec(name)?.[1];
    if (language === undefined || named.get(language) === 1) continue;
    const weight = weightIn(element);
    if (parameters !== undefined && !WEIGHT.test(parameters)) continue;
    if (language === '*') others = Math.max(others, weight);
    else if (LOCALES.some((locale) => locale === language)) {
      // `en-GB;q=0` refuses one region only, so it does not exclude the locale.
      const isWholeLanguage = name === language || name === `${language}-*`;
      if (weight > 0 || isWholeLanguage) {
        named.set(language, Math.max(named.get(language) ?? 0, weight));
      }
    }
  }
  const unnamed = LOCALES.filter((locale) => !named.has(locale));
  // If `*` alone covers all of them, it expresses no preference.
  if (named.size > 0 && others > 0) for (const locale of unnamed) named.set(locale, others);
  let best: Locale | undefined;
  let most = 0;
  for (const [language, weight] of named) {
    const locale = LOCALES.find((candidate) => candidate === language);
    if (weight > most) [best, most] = [locale, weight];
  }
  return best;
}
