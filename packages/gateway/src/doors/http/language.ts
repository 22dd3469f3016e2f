/** The language file and its schema, as they are (PROTOCOL.md section 3). */
import { hash } from 'node:crypto';

import { answer, json, REVALIDATE, vary } from './answer.ts';
import type { Exchange } from './exchange.ts';

const HEADERS = { ...REVALIDATE, ...vary() };

export async function languageFile(exchange: Exchange): Promise<void> {
  const { text: body, edition } = exchange.house;
  const type = 'application/yaml';
  await answer(exchange, { status: 200, type, headers: HEADERS, body, tag: `"${edition}"` });
}

export async function languageSchema(exchange: Exchange): Promise<void> {
  // Rarely asked for, and heavy to load.
  const { LanguageSchema } = await import('@open-presence/protocol/schemas');
  const body = json(LanguageSchema);
  const type = 'application/schema+json';
  await answer(exchange, {
    status: 200,
    type,
    headers: HEADERS,
    body,
    tag: `"${editionOf(body)}"`,
  });
}

/** What tells one text from another in tags. */
export function editionOf(text: Uint8Array): string {
  return hash('sha256', text, 'hex').slice(0, 12);
}
