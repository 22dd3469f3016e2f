/** Catalogs by which machines find what a host offers. */
import type { JsonObject } from '../../http/route-description.ts';
import type { GuideContext } from '../guide-parts.ts';

/** Relation types of RFC 8631, and the operations that such links lead to. */
const RELATIONS = {
  'service-desc': ['openapi', 'openapiYaml'],
  'service-doc': ['reference', 'protocol', 'llms'],
  'service-meta': ['discover', 'language'],
  status: ['ready'],
};

/** A linkset (RFC 9264) as RFC 9727 wants it: what describes the API. */
export function apiCatalog({ address, routes }: GuideContext): JsonObject {
  const links = Object.entries(RELATIONS).map(([relation, ids]) => {
    const linked = ids.flatMap((id) => routes.filter(({ description }) => description.id === id));
    const targets = linked.map(({ path, representations: [first] }) => {
      return { href: address + path, type: first?.type };
    });
    return [relation, targets] as const;
  });
  return { linkset: [{ anchor: `${address}/api`, ...Object.fromEntries(links) }] };
}

/** What is for AI systems. The cards have names of their own. */
const ARTIFACTS: readonly (readonly [path: string, type: string, isCard: boolean])[] = [
  ['/skill.md', 'application/agent-skills+md', false],
  ['/openapi.json', 'application/vnd.oai.openapi+json;version=3.1', false],
  ['/mcp/server-card', 'application/mcp-server-card+json', true],
  ['/.well-known/agent-card.json', 'application/a2a-agent-card+json', true],
];

/** The catalog of https://ai-catalog.io: what AI systems can use here, each with its type. */
export function aiCatalog({ address, language, routes, text }: GuideContext): JsonObject {
  const displayName = text(language.service);
  const entries = ARTIFACTS.flatMap(([path, type, isCard]) => {
    const route = routes.find((candidate) => candidate.path === path);
    if (route === undefined) return [];
    const url = address + path;
    const door = Object.entries(language.doors).find(([name]) => name === route.description.id);
    const description = door === undefined ? {} : { description: text(door[1]) };
    const names = isCard ? {} : { displayName, ...description };
    return [{ identifier: url, type, url, ...names }];
  });
  return {
    specVersion: '1.0',
    host: { displayName, documentationUrl: `${address}/protocol.md` },
    entries,
  };
}
