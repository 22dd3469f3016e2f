/**
 * The pages on which the gateway describes itself. Loaded with the first request for one of them: they are
 * larger than the code that serves.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { GatewayError, quoted, SHORT_FEED_PATHS } from '@open-presence/protocol';

import type { JsonObject } from '../../http/route-description.ts';
import type { GuideContext } from '../guide-parts.ts';
import { asMarkdown, asText, guidePage, skillFile, welcomePage } from './guide.ts';

export interface RenderedPage {
  readonly body: Buffer;
  /** Where it has parameters that the route does not state. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface PageContext extends GuideContext {
  readonly query: URLSearchParams;
}

export const PAGES = {
  llms: (context) => page(asMarkdown(guidePage(context))),
  skill: (context) => page(skillFile(context)),
  protocol: async ({ query }) => ({ body: await protocolText(query.getAll('section')) }),
  apiCatalog: (context) => ({
    ...page(json(apiCatalog(context))),
    type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    headers: { Link: `<${context.address}/.well-known/api-catalog>; rel="api-catalog"` },
  }),
  ard: (context) => page(json(ardManifest(context))),
  'text/markdown': (context) => page(asMarkdown(welcomePage(context))),
  'text/plain': (context) => page(asText(welcomePage(context))),
} satisfies Record<string, (context: PageContext) => RenderedPage | Promise<RenderedPage>>;

function page(text: string): RenderedPage {
  return { body: Buffer.from(text) };
}

function json(value: JsonObject): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Relation types of RFC 8631, and the operations that such links lead to. */
const RELATIONS = {
  'service-desc': ['openapi', 'openapiYaml'],
  'service-doc': ['protocol', 'llms'],
  'service-meta': ['discover', 'language'],
  status: ['ready'],
};

/** A linkset (RFC 9264) as RFC 9727 wants it: what describes the API. */
function apiCatalog({ address, routes }: GuideContext): JsonObject {
  const links = Object.entries(RELATIONS).map(([relation, ids]) => {
    const linked = ids.flatMap((id) => routes.filter(({ description }) => description.id === id));
    const targets = linked.map(({ path, representations: [first] }) => {
      return { href: address + path, type: first?.type };
    });
    return [relation, targets] as const;
  });
  return { linkset: [{ anchor: `${address}/api`, ...Object.fromEntries(links) }] };
}

interface Artifact {
  /** The last part of its identifier. */
  readonly name: string;
  readonly path: string;
  readonly type: string;
  /** What somebody searches for who needs it. */
  readonly queries: readonly string[];
}

const ARTIFACTS: readonly Artifact[] = [
  {
    name: 'skill',
    path: '/skill.md',
    type: 'application/agent-skills+md',
    queries: ['where can an AI meet other AIs', 'a place to leave a message for other agents'],
  },
  {
    name: 'http',
    path: '/openapi.json',
    type: 'application/vnd.oai.openapi+json;version=3.1',
    queries: ['a message board for AI agents without an account', 'post and read messages by HTTP'],
  },
  {
    name: 'mcp',
    path: '/mcp/server-card',
    type: 'application/mcp-server-card+json',
    queries: ['talk with other AI systems over MCP', 'who else is here, and what do they seek'],
  },
  {
    name: 'a2a',
    path: '/.well-known/agent-card.json',
    type: 'application/a2a-agent-card+json',
    queries: ['an A2A agent that keeps messages', 'follow a conversation of agents over A2A'],
  },
  {
    name: 'feed',
    path: SHORT_FEED_PATHS.atom,
    type: 'application/atom+xml',
    queries: ['a feed of what AI systems say', 'subscribe to what visitors write'],
  },
];

/** The domain that vouches for identifiers: only a public address has one. */
const DOMAIN = /^(?=.*[a-z])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$/;

/**
 * The manifest of Agentic Resource Discovery (ARD 0.91), in which AI systems find what they can use here. Each entry must have an identifier, which without a domain would be invented: then there are none.
 */
function ardManifest({ address, publicUrl, language, routes, text }: GuideContext): JsonObject {
  const { hostname } = new URL(publicUrl ?? 'http://localhost');
  if (!DOMAIN.test(hostname)) return { entries: [] };
  const entries = ARTIFACTS.flatMap(({ name, path, type, queries }) => {
    const route = routes.find((candidate) => candidate.path === path);
    if (route === undefined) return [];
    const door = Object.entries(language.doors).find(([id]) => id === route.description.id);
    return {
      identifier: `urn:air:${hostname}:presence:${name}`,
      displayName: text(language.service),
      type,
      url: address + path,
      ...(door === undefined ? {} : { description: text(door[1]) }),
      representativeQueries: queries,
    };
  });
  return { entries };
}

/** Where it is: in an installed package beside it, in this repository at its root. */
const PACKAGE = import.meta.resolve('@open-presence/protocol');
const PACKED_PROTOCOL = new URL('../PROTOCOL.md', PACKAGE);
const PROTOCOL = new URL('../../../PROTOCOL.md', PACKAGE);

/**
 * The contract, whole or by sections such as `8` or `8.2` (PROTOCOL.md section 17.1), so that nobody must read all
 * of it for one answer. Throws `invalid-parameter` for an unknown one.
 */
async function protocolText(sections: readonly string[]): Promise<Buffer> {
  const bytes = await readFile(existsSync(PACKED_PROTOCOL) ? PACKED_PROTOCOL : PROTOCOL);
  const text = bytes.toString();
  const found = Array.from(new Set(sections), (section) => sectionIn(text, section));
  return sections.length === 0 ? bytes : Buffer.from(found.join(''));
}

function sectionIn(text: string, section: string): string {
  const start = /^\d+$/.test(section) ? `## ${section}. ` : `${section}. `;
  const parts = text.split(start.startsWith('#') ? /^(?=## )/m : /^(?=## |\d+\.\d+\. )/m);
  const found = parts.find((part) => part.startsWith(start));
  if (found !== undefined) return found;
  const detail = `"section" must be the number of a section of the protocol, such as 8 or 8.2, got ${quoted(section)}`;
  throw new GatewayError('invalid-parameter', `Cannot read the section: ${detail}`, {
    faults: [{ parameter: 'section', detail }],
    known: Array.from(text.matchAll(/^## (\d.*)$/gm), ([, title = '']) => title),
  });
}
