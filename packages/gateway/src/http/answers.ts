/** Writing answers: what they all carry, and how whole ones are sent. */
import { encodingOf, hasTag } from './negotiation.ts';
import { compressed, WORTH_COMPRESSING } from './compression.ts';
import { isGone, type RequestContext, type StartupContext } from './context.ts';

export type Headers = Readonly<Record<string, string>>;

/** What every answer carries. */
export const COMMON: Headers = {
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
export const REVALIDATE: Headers = { 'Cache-Control': 'no-cache' };
export const NOT_KEPT: Headers = { 'Cache-Control': 'no-store' };

/** A whole answer. For `HEAD`, Node leaves the body out. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly headers?: Headers;
  readonly body: Uint8Array;
  /** Weak, or one that the encoding may be added to. */
  readonly tag?: string;
}

/** Sends an answer, compressed if that is wished for and worth it; 304 if the caller has it. */
export async function answer(
  context: RequestContext<StartupContext>,
  whole: Answer,
): Promise<void> {
  const { request, response } = context;
  const worth = whole.body.length >= WORTH_COMPRESSING;
  const encoding = worth ? encodingOf(request.headers['accept-encoding']) : undefined;
  const headers = { ...COMMON, ...tagged(whole.tag, encoding), ...whole.headers };
  if (hasTag(request.headers['if-none-match'], headers.ETag)) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  const body = encoding === undefined ? whole.body : await compressed(encoding, whole.body);
  if (isGone(context)) return;
  response.writeHead(whole.status, {
    'Content-Type': whole.type,
    'Content-Length': String(body.length),
    ...encodedAs(encoding),
    ...headers,
  });
  response.end(body);
}

export function encodedAs(encoding: string | undefined): Headers {
  return encoding === undefined ? {} : { 'Content-Encoding': encoding };
}

/** The header of a tag. A strong one names bytes, so each encoding has one of its own. */
export function tagged(tag: string | undefined, encoding: string | undefined): { ETag?: string } {
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

export function json(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
