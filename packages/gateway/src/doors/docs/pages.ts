/**
 * The pages on which the gateway describes itself. Loaded when the first of them is requested: what
 * describes the gateway is heavier than what serves.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import type { JsonObject } from '../../http/route-description.ts';
import { aiCatalog, apiCatalog } from './catalogs.ts';
import type { GuideContext } from '../guide-parts.ts';
import { guidePage, skillFile, welcomePage } from './guide.ts';
import { asMarkdown, asText } from './page.ts';
import { REFERENCE_HEADERS, referencePage } from './reference.ts';

export interface RenderedPage {
  readonly body: Buffer;
  /** Where it has parameters that the route does not state. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface PageContext extends GuideContext {
  /** Where the page is relative to the gateway's root: `.`, or `..` if its path ends with a slash. */
  readonly root: string;
}

/** Where the contract is: in an installed package beside it, in this repository at its root. */
const PACKAGE = import.meta.resolve('@open-presence/protocol');
const PACKED_PROTOCOL = new URL('../PROTOCOL.md', PACKAGE);
const PROTOCOL = new URL('../../../PROTOCOL.md', PACKAGE);

export const PAGES = {
  reference: (context) => ({ ...page(referencePage(context)), headers: REFERENCE_HEADERS }),
  llms: (context) => page(asMarkdown(guidePage(context))),
  skill: (context) => page(skillFile(context)),
  protocol: async () => {
    return { body: await readFile(existsSync(PACKED_PROTOCOL) ? PACKED_PROTOCOL : PROTOCOL) };
  },
  apiCatalog: (context) => ({
    ...page(json(apiCatalog(context))),
    type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    headers: { Link: `<${context.address}/.well-known/api-catalog>; rel="api-catalog"` },
  }),
  aiCatalog: (context) => page(json(aiCatalog(context))),
  'text/markdown': (context) => page(asMarkdown(welcomePage(context))),
  'text/plain': (context) => page(asText(welcomePage(context))),
} satisfies Record<string, (context: PageContext) => RenderedPage | Promise<RenderedPage>>;

function page(text: string): RenderedPage {
  return { body: Buffer.from(text) };
}

function json(value: JsonObject): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
