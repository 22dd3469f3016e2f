/** Headers that answers have in common. */

export type Headers = Readonly<Record<string, string>>;

/** What every answer carries. */
export const COMMON_HEADERS: Headers = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Allow, Content-Language, ETag, Link, Location, Preference-Applied, Retry-After',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

export const JSON_TYPE = 'application/json; charset=utf-8';

/** To be asked for again each time, with the tag. */
export const NO_CACHE: Headers = { 'Cache-Control': 'no-cache' };
export const NO_STORE: Headers = { 'Cache-Control': 'no-store' };

export function contentEncoding(encoding: string | undefined): Headers {
  return encoding === undefined ? {} : { 'Content-Encoding': encoding };
}

/** The header of a tag. A strong one names bytes, so each encoding has one of its own. */
export function etag(tag: string | undefined, encoding: string | undefined): { ETag?: string } {
  if (tag === undefined) return {};
  const own = encoding !== undefined && !tag.startsWith('W/');
  return { ETag: own ? `${tag.slice(0, -1)}-${encoding}"` : tag };
}

/** `Vary`, with the encoding that every answer varies by. */
export function vary(...names: readonly string[]): Headers {
  return { Vary: [...names, 'Accept-Encoding'].join(', ') };
}

/** For an answer in a locale, where one was chosen. */
export function contentLanguage(locale: string | undefined, ...names: readonly string[]): Headers {
  const chosen: Headers = locale === undefined ? {} : { 'Content-Language': locale };
  return { ...chosen, ...vary(...names, 'Accept-Language') };
}
