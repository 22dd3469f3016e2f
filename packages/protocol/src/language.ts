/**
 * Speaking the language: which locale a caller prefers, and what a text is in it.
 *
 * Refuses to know where a language comes from; `language-file.ts` reads one.
 */
import type { EndpointKey, Language, ROUTES } from './language-schema.ts';
import { LOCALES, type Locale, type LocalizedText } from './localized-text.ts';

/** Purpose to route. */
export type Endpoints = { [Key in EndpointKey]: (typeof ROUTES)[Key] };

/** The text in the caller's locale or, for a caller without one, in the form shown by default. */
export function localize(words: LocalizedText, locale: Locale | undefined): string {
  return words[locale ?? words.shown ?? 'en'];
}

/** The `endpoints` of the status document, in the interface's order. */
export function endpointsOf({ endpoints }: Language): Endpoints {
  return {
    first_contact: endpoints.first_contact.route,
    garden: endpoints.garden.route,
    seeds: endpoints.seeds.route,
    shepit: endpoints.shepit.route,
    discover: endpoints.discover.route,
    language: endpoints.language.route,
  };
}

/** Pieces of a text one by one, since a hostile one may hold more than an array should. */
function* split(text: string, separator: string): Generator<string> {
  let start = 0;
  for (let end = text.indexOf(separator); end !== -1; end = text.indexOf(separator, start)) {
    yield text.slice(start, end);
    start = end + 1;
  }
  yield text.slice(start);
}

const RANGE = /^(\*|[a-z]+)(?:-[a-z0-9*]+)*$/;
const QUALITY = /^(?:0(?:\.[0-9]*)?|1(?:\.0*)?)$/;

/** One element of the header, or undefined where it is not one. */
function rangeOf(element: string): { language: string; exact: boolean; q: number } | undefined {
  const [head = '', ...parameters] = element.split(';', 3);
  const range = head.trim().toLowerCase();
  const language = RANGE.exec(range)?.[1];
  if (language === undefined) return undefined;
  const exact = range === language || range === `${language}-*`;
  const parameter = parameters[0]?.trim();
  if (parameter === undefined) return { language, exact, q: 1 };
  const [name = '', value = ''] = parameter.split('=', 2);
  const weight = value.trim();
  if (name.trim().toLowerCase() !== 'q' || !QUALITY.test(weight)) return undefined;
  return { language, exact, q: Number(weight) };
}

/**
 * The locale that an `Accept-Language` header asks for (RFC 9110 section 12.5.4), or undefined
 * where it prefers none of ours: `*` alone is no preference. The highest q wins, then the first
 * named, then what is named before what only `*` covers. Elements that cannot be read are passed
 * over. Takes time in proportion to the header's length.
 */
export function localeOf(acceptLanguage: string | undefined): Locale | undefined {
  if (acceptLanguage === undefined) return undefined;
  const named = new Map<string, number>();
  let others = 0;
  for (const element of split(acceptLanguage, ',')) {
    const range = rangeOf(element);
    if (range === undefined) continue;
    const { language, exact, q } = range;
    if (language === '*') others = Math.max(others, q);
    else if (LOCALES.some((locale) => locale === language)) {
      // A refusal of one region (`en-GB;q=0`) does not refuse the locale.
      if (q > 0 || exact) named.set(language, Math.max(named.get(language) ?? 0, q));
    }
  }
  const unnamed = LOCALES.filter((locale) => !named.has(locale));
  // All of them covered alike by `*` is no preference between them.
  if (named.size > 0 && others > 0) for (const locale of unnamed) named.set(locale, others);
  let best: Locale | undefined;
  let most = 0;
  for (const [language, q] of named) {
    const locale = LOCALES.find((candidate) => candidate === language);
    if (q > most) [best, most] = [locale, q];
  }
  return best;
}
