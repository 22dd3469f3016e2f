/** The language file and its schema, as they are (PROTOCOL.md section 3). */
import { hash } from 'node:crypto';

import { answer, json, REVALIDATE, vary } from '../../http/answers.ts';
import type { RequestContext } from '../../http/context.ts';

const HEADERS = { ...REVALIDATE, ...vary() };

export async function languageFile(context: RequestContext): Promise<void> {
  const { text: body, languageHash } = context.app;
  const type = 'application/yaml';
  await answer(context, { status: 200, type, headers: HEADERS, body, tag: `"${languageHash}"` });
}

export async function languageSchema(context: RequestContext): Promise<void> {
  // Rarely asked for, and heavy to load.
  const { LanguageSchema } = await import('@open-presence/protocol/schemas');
  const body = json(LanguageSchema);
  const type = 'application/schema+json';
  await answer(context, {
    status: 200,
    type,
    headers: HEADERS,
    body,
    tag: `"${hashOf(body)}"`,
  });
}

/** What tells one text from another in tags. */
export function hashOf(text: Uint8Array): string {
  return hash('sha256', text, 'hex').slice(0, 12);
}
