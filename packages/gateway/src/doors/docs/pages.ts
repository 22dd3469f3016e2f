/**
 * The pages on which the gateway describes itself. Loaded when the first of them is requested: what
 * describes the gateway is heavier than what serves.
 */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { type Locale, localize } from '@open-presence/protocol';
import { stringify } from 'yaml';

import type { JsonObject, Localization } from '../../http/route-description.ts';
import type { DoorContext } from '../context.ts';
import { aiCatalog, apiCatalog } from './catalogs.ts';
import { frontMatter, guidePage, welcomePage, type GuideContext } from './guide.ts';
import { openApiDocument } from './openapi.ts';
import { asHtml, asMarkdown, asText, STYLE } from './page.ts';
import { referencePage } from './reference.ts';

export interface RenderedPage {
  readonly body: Buffer;
  /** Where it has parameters that the route does not state. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface PageContext extends GuideContext {
  readonly app: DoorContext;
}

const HTML_HEADERS = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};

/** Where the contract is: in an installed package beside it, in this repository at its root. */
const PACKAGE = import.meta.resolve('@open-presence/protocol');
const PACKED_PROTOCOL = new URL('../PROTOCOL.md', PACKAGE);
const PROTOCOL = new URL('../../../PROTOCOL.md', PACKAGE);

/** By app and locale: each is made once. */
const documents = new WeakMap<DoorContext, Map<Locale | undefined, Promise<OpenApi>>>();

interface OpenApi {
  readonly document: JsonObject;
  readonly json: Buffer;
  yaml?: Buffer;
  reference?: Buffer;
}

export function guideContext(
  app: DoorContext,
  locale: Locale | undefined,
  address: string,
): PageContext {
  const { language, routes } = app;
  return { app, routes, language, locale, address, text: (text) => localize(text, locale) };
}

function openApi({ app, ...localization }: PageContext): Promise<OpenApi> {
  const byLocale = documents.get(app) ?? new Map<Locale | undefined, Promise<OpenApi>>();
  documents.set(app, byLocale);
  const made = byLocale.get(localization.locale) ?? makeOpenApi(localization, app);
  byLocale.set(localization.locale, made);
  return made;
}

async function makeOpenApi(localization: Localization, app: DoorContext): Promise<OpenApi> {
  const document = await openApiDocument(localization, app);
  return { document, json: Buffer.from(`${JSON.stringify(document)}\n`) };
}

export const PAGES = {
  openapi: async (context) => ({ body: (await openApi(context)).json }),
  openapiYaml: async (context) => {
    const made = await openApi(context);
    made.yaml ??= Buffer.from(stringify(made.document, { aliasDuplicateObjects: false }));
    return { body: made.yaml };
  },
  reference: async (context) => {
    const made = await openApi(context);
    made.reference ??= Buffer.from(referencePage(context, made.document));
    return { body: made.reference, headers: HTML_HEADERS };
  },
  llms: (context) => page(asMarkdown(guidePage(context))),
  skill: (context) => page(frontMatter(context) + asMarkdown(guidePage(context))),
  protocol: async () => {
    return { body: await readFile(PACKED_PROTOCOL).catch(() => readFile(PROTOCOL)) };
  },
  apiCatalog: (context) => ({
    ...page(json(apiCatalog(context))),
    type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    headers: { Link: `<${context.address}/.well-known/api-catalog>; rel="api-catalog"` },
  }),
  aiCatalog: (context) => page(json(aiCatalog(context))),
  'text/markdown': (context) => page(asMarkdown(welcomePage(context))),
  'text/plain': (context) => page(asText(welcomePage(context))),
  'text/html': (context) => ({ ...page(asHtml(welcomePage(context))), headers: HTML_HEADERS }),
} satisfies Record<string, (context: PageContext) => RenderedPage | Promise<RenderedPage>>;

function page(text: string): RenderedPage {
  return { body: Buffer.from(text) };
}

function json(value: JsonObject): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
