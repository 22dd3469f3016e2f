/** Documents that are the same for every caller: the language file, its schema, robots.txt. */
import { contentHash, jsonBody, sendResponse } from '../../http/response.ts';
import { NO_CACHE, vary } from '../../http/headers.ts';
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

/** RFC 9309. Crawlers may read everything; following a link must not append an entry. */
export const ROBOTS = 'User-agent: *\nDisallow: /api/say\nAllow: /\n';

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
