/**
 * The server card (SEP-2127): where and how this gateway speaks MCP, for whoever has not connected
 * yet. It lists no tools: those are asked for.
 */
import { say } from '@open-presence/protocol';

import { addressOf } from '../http/address.ts';
import { answer, inTongue, json, REVALIDATE, type Headers } from '../http/answer.ts';
import { tongueFor, type Exchange } from '../http/exchange.ts';
import { editionOf } from '../http/language.ts';
import { NAME, REVISIONS } from './about.ts';

const TYPE = 'application/mcp-server-card+json';
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json';
/** What the schema of cards takes. */
const LONGEST = 100;

export async function serverCard(exchange: Exchange): Promise<void> {
  await card(exchange, {});
}

export async function card(exchange: Exchange, headers: Headers): Promise<void> {
  const { house, request } = exchange;
  const { language } = house;
  const tongue = tongueFor(request);
  const body = json({
    $schema: SCHEMA,
    name: `${domainOf(addressOf(exchange))}/${NAME}`,
    version: language.version,
    title: cut(say(language.service, tongue)),
    description: cut(say(language.doors.mcp, tongue)),
    remotes: [
      {
        type: 'streamable-http',
        url: `${addressOf(exchange)}/mcp`,
        supportedProtocolVersions: REVISIONS,
      },
    ],
  });
  await answer(exchange, {
    status: 200,
    type: TYPE,
    headers: { ...REVALIDATE, ...inTongue(tongue, 'Host'), ...headers },
    body,
    tag: `"${editionOf(body)}"`,
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
