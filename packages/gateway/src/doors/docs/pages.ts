/**
 * The pages on which the gateway describes itself. Loaded with the first request for one of them: they are
 * larger than the code that serves.
 */
import type { JsonObject } from '../../http/route-description.ts';
import type { GuideContext } from '../guide-parts.ts';
import { ardManifest } from './ard-manifest.ts';
import { guidePage, skillFile, welcomePage } from './guide.ts';
import { asMarkdown, asText } from './page.ts';
import { protocolText } from './protocol-text.ts';

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
