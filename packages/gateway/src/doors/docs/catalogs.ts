/** Catalogs by which machines find what a host offers. */
import { localize, PATHS } from '@open-presence/protocol';

import type { Json } from './components.ts';
import type { Asked } from './guide.ts';
import type { RouteSummary } from '../../http/context.ts';

const MARKDOWN = 'text/markdown';

/** A linkset (RFC 9264) as RFC 9727 wants it: of each API, what describes it. */
export function apiCatalog({ address }: Asked): Json {
  const link = (path: string, type: string): Json => ({ href: address + path, type });
  return {
    linkset: [
      {
        anchor: `${address}/api`,
        'service-desc': [
          link('/openapi.json', 'application/json'),
          link('/openapi.yaml', 'application/yaml'),
        ],
        'service-doc': [
          link('/reference', 'text/html'),
          link('/protocol.md', MARKDOWN),
          link('/llms.txt', 'text/plain'),
        ],
        'service-meta': [
          link('/api/discover', 'application/json'),
          link('/mova-snu.yaml', 'application/yaml'),
        ],
        status: [link('/readyz', 'application/json')],
      },
    ],
  };
}

/** What there may be for AI systems, by its path and type; those with names of their own last. */
const ARTIFACTS: readonly (readonly [path: string, type: string, named: boolean])[] = [
  ['/skill.md', 'application/agent-skills+md', false],
  ['/openapi.json', 'application/vnd.oai.openapi+json;version=3.1', false],
  ['/mcp/server-card', 'application/mcp-server-card+json', true],
  ['/.well-known/agent-card.json', 'application/a2a-agent-card+json', true],
];

/** The catalog of https://ai-catalog.io: what AI systems can use here, each with its type. */
export function aiCatalog(asked: Asked, routes: readonly RouteSummary[]): Json {
  const { address, language, locale } = asked;
  const there = ARTIFACTS.filter(([path]) => routes.some((route) => route.path === path));
  return {
    specVersion: '1.0',
    host: {
      displayName: localize(language.service, locale),
      documentationUrl: `${address}/protocol.md`,
    },
    entries: there.map(([path, type, named]) => {
      const url = address + path;
      return { identifier: url, type, url, ...(named ? {} : describedAs(asked, path)) };
    }),
  };
}

function describedAs({ language, locale }: Asked, path: string): Json {
  const door = Object.entries(language.doors).find(([name]) => PATHS[name] === path);
  const displayName = localize(language.service, locale);
  return door === undefined
    ? { displayName }
    : { displayName, description: localize(door[1], locale) };
}
