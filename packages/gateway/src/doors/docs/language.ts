/** The language file and its schema, as they are (PROTOCOL.md section 3). */
import { sendResponse, contentHash, jsonBody } from '../../http/response.ts';
import { NO_CACHE, vary } from '../../http/headers.ts';
import type { DoorRequest } from '../context.ts';

const HEADERS = { ...NO_CACHE, ...vary() };

export async function languageFile(context: DoorRequest): Promise<void> {
  const { languageFile: body, languageHash } = context.app;
  const type = 'application/yaml';
  await sendResponse(context, {
    status: 200,
    type,
    headers: HEADERS,
    body,
    tag: `"${languageHash}"`,
  });
}

export async function languageSchema(context: DoorRequest): Promise<void> {
  // Rarely asked for, and heavy to load.
  const { LanguageSchema } = await import('@open-presence/protocol/schemas');
  const body = jsonBody(LanguageSchema);
  const type = 'application/schema+json';
  await sendResponse(context, {
    status: 200,
    type,
    headers: HEADERS,
    body,
    tag: `"${contentHash(body)}"`,
  });
}
