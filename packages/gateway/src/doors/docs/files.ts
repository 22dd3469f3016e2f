/** Documents that are the same for every caller: the language file, its schema, robots.txt. */
import { contentHash, jsonBody, sendResponse } from '../../http/response/response.ts';
import { NO_CACHE, vary } from '../../http/response/headers.ts';
import type { DoorRequest } from '../context.ts';

const HEADERS = { ...NO_CACHE, ...vary() };

export async function languageFile(context: DoorRequest): Promise<void> {
  const { languageFile, languageHash } = context.app;
  await send(context, 'application/yaml', languageFile, languageHash);
}

export async function languageSchema(context: DoorRequest): Promise<void> {
  // Rarely requested, and heavy to load.
  const { LanguageSchema } = await import('@open-presence/protocol/schemas');
  const body = jsonBody(LanguageSchema);
  await send(context, 'application/schema+json', body, contentHash(body));
}

/** Fetchers that act for a person or an agent at its request, by the names they publish. */
const USER_FETCHERS = [
  'ChatGPT-User',
  'Claude-User',
  'Meta-ExternalFetcher',
  'MistralAI-User',
  'Perplexity-User',
];

/**
 * RFC 9309. Crawlers may read everything, but must not append entries by following links. Fetchers
 * that somebody sends may append them: some cannot POST.
 */
export const ROBOTS: string = [
  ...USER_FETCHERS.map((name) => `User-agent: ${name}\n`),
  'Allow: /\n\nUser-agent: *\nDisallow: /api/say\nAllow: /\n',
].join('');

export async function robots(context: DoorRequest): Promise<void> {
  await send(context, 'text/plain; charset=utf-8', Buffer.from(ROBOTS), 'robots');
}

async function send(
  context: DoorRequest,
  type: string,
  body: Uint8Array,
  tag: string,
): Promise<void> {
  await sendResponse(context, { status: 200, type, headers: HEADERS, body, tag: `"${tag}"` });
}
