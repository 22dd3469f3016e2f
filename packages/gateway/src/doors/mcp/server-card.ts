/**
 * The server card (SEP-2127): where and how this gateway speaks MCP, for whoever has not connected
 * yet. It lists no tools: those are asked for.
 */
import { localize } from '@open-presence/protocol';

import { publicAddressOf } from '../../http/public-address.ts';
import { sendResponse, contentHash, jsonBody } from '../../http/response.ts';
import { contentLanguage, NO_CACHE } from '../../http/headers.ts';
import { localeFor } from '../../http/context.ts';
import type { DoorRequest } from '../context.ts';

/** The name of the server, behind its domain. */
export const SERVER_NAME = 'open-presence-gateway';

/** The revisions of MCP that are spoken, newest first. All but the first begin with `initialize`. */
export const REVISIONS = [
  '2026-07-28',
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
] as const;

const TYPE = 'application/mcp-server-card+json';
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json';
/** What the schema of cards takes. */
const LONGEST = 100;

export async function serverCard(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  const { language } = app;
  const locale = localeFor(request);
  const body = jsonBody({
    $schema: SCHEMA,
    name: `${domainOf(publicAddressOf(context))}/${SERVER_NAME}`,
    version: language.version,
    title: cut(localize(language.service, locale)),
    description: cut(localize(language.doors.mcp, locale)),
    remotes: [
      {
        type: 'streamable-http',
        url: `${publicAddressOf(context)}/mcp`,
        supportedProtocolVersions: REVISIONS,
      },
    ],
  });
  await sendResponse(context, {
    status: 200,
    type: TYPE,
    headers: { ...NO_CACHE, ...contentLanguage(locale, 'Host') },
    body,
    tag: `"${contentHash(body)}"`,
  });
}

/** Reversed, as names of servers begin: `net.example`. */
function domainOf(address: string): string {
  const { hostname } = new URL(address);
  const labels = hostname.replaceAll(/[^a-zA-Z0-9.-]/g, '').split('.');
  const numbers = labels.every((label) => /^\d*$/.test(label));
  const domain = numbers ? 'localhost' : labels.toReversed().join('.');
  return domain === '' ? 'localhost' : domain;
}

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= LONGEST ? text : `${characters.slice(0, LONGEST - 1).join('')}…`;
}
