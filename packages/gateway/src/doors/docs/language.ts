/** The language file and its schema, as they are (PROTOCOL.md section 3). */
import { answer, contentHash, json } from '../../http/answers.ts';
import { REVALIDATE, vary } from '../../http/headers.ts';
import type { DoorRequest } from '../context.ts';

const HEADERS = { ...REVALIDATE, ...vary() };

export async function languageFile(context: DoorRequest): Promise<void> {
  const { languageFile: body, languageHash } = context.app;
  const type = 'application/yaml';
  await answer(context, { status: 200, type, headers: HEADERS, body, tag: `"${languageHash}"` });
}

export async function languageSchema(context: DoorRequest): Promise<void> {
  // Rarely asked for, and heavy to load.
  const { LanguageSchema } = await import('@open-presence/protocol/schemas');
  const body = json(LanguageSchema);
  const type = 'application/schema+json';
  await answer(context, {
    status: 200,
    type,
    headers: HEADERS,
    body,
    tag: `"${contentHash(body)}"`,
  });
}
