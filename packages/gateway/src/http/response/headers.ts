/** Headers that responses have in common. */

export type Headers = Readonly<Record<string, string>>;

/** Sent with every response. */
export const SAFETY_HEADERS: Headers = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** Sent with every response that pages of other sites may read: all but `sendForeignPage`'s. */
export const COMMON_HEADERS: Headers = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Accept-Ranges, Allow, Content-Language, Content-Range, ETag, Idempotent-Replayed, Link, Location, Preference-Applied, Retry-After, Warning',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  ...SAFETY_HEADERS,
};

/** As lines of a response. */
export function headerLines(headers: Headers): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** May be stored, but must be revalidated with its tag each time. */
export const NO_CACHE: Headers = { 'Cache-Control': 'no-cache' };
/** May be kept for a year: the path changes with the content. */
export const IMMUTABLE: Headers = { 'Cache-Control': 'public, max-age=31536000, immutable' };
export const NO_STORE: Headers = { 'Cache-Control': 'no-store' };

export function contentEncoding(encoding: string | undefined): Headers {
  return encoding === undefined ? {} : { 'Content-Encoding': encoding };
}

/** The `ETag` header. A strong tag identifies bytes, so each encoding has a tag of its own. */
export function etag(tag: string | undefined, encoding: string | undefined): { ETag?: string } {
  if (tag === undefined) return {};
  const strong = !tag.startsWith('W/');
  return { ETag: strong && encoding !== undefined ? `${tag.slice(0, -1)}-${encoding}"` : tag };
}

/** `Vary` with these names and `Accept-Encoding`, which every response varies by. */
export function vary(...names: readonly string[]): Headers {
  return { Vary: [...names, 'Accept-Encoding'].join(', ') };
}

/** The headers of a response in this locale, where one was chosen. */
export function contentLanguage(locale: string | undefined, ...names: readonly string[]): Headers {
  const chosen: Headers = locale === undefined ? {} : { 'Content-Language': locale };
  return { ...chosen, ...vary(...names, 'Accept-Language') };
}
