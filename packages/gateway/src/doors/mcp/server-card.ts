/**
 * The server card (SEP-2127): where and in which revisions this gateway speaks MCP. Lists no tools:
 * clients request those from the server.
 */
import { publicAddressOf } from '../../http/public-address.ts';
import { sendResponse, contentHash, jsonBody } from '../../http/response/response.ts';
import { contentLanguage, NO_CACHE } from '../../http/response/headers.ts';
import type { Localization } from '../../http/route-description.ts';
import { localizationFor, type DoorRequest } from '../context.ts';

/** The name of the server, without its domain. */
export const SERVER_NAME = 'open-presence-gateway';

/** The supported revisions of MCP, newest first. All but the first start with `initialize`. */
export const REVISIONS = [
  '2026-07-28',
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
] as const;

export const SERVER_CARD_TYPE = 'application/mcp-server-card+json';
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json';
/** The longest texts that the schema of cards allows, in characters. */
const MAX_LENGTH = 100;

export async function serverCard(context: DoorRequest): Promise<void> {
  const localization = localizationFor(context);
  const body = jsonBody(serverCardOf(localization, publicAddressOf(context)));
  await sendResponse(context, {
    status: 200,
    type: SERVER_CARD_TYPE,
    headers: { ...NO_CACHE, ...contentLanguage(localization.locale, 'Host') },
    body,
    tag: `"${contentHash(body)}"`,
  });
}

/** The card of the gateway at this address. */
function serverCardOf({ language, text }: Localization, address: string): object {
  return {
    $schema: SCHEMA,
    name: `${reversedDomain(address)}/${SERVER_NAME}`,
    version: language.version,
    title: truncate(text(language.service)),
    description: truncate(text(language.doors.mcp)),
    remotes: [
      {
        type: 'streamable-http',
        url: `${address}/mcp`,
        supportedProtocolVersions: REVISIONS,
      },
    ],
  };
}

/** The prefix of the server's name: its domain, reversed, as in `net.example`. */
function reversedDomain(address: string): string {
  const { hostname } = new URL(address);
  const labels = hostname.replaceAll(/[^a-zA-Z0-9.-]/g, '').split('.');
  const isAddress = labels.every((label) => /^\d*$/.test(label));
  const domain = isAddress ? 'localhost' : labels.toReversed().join('.');
  return domain === '' ? 'localhost' : domain;
}

function truncate(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MAX_LENGTH
    ? text
    : `${characters.slice(0, MAX_LENGTH - 1).join('')}…`;
}
