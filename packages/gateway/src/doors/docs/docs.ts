/**
 * The docs door: descriptions of the gateway (PROTOCOL.md section 17), so that a visitor who has
 * only its address finds out what can be done here, by whichever convention it was built for.
 *
 * Owns the forms of the descriptions; what they state comes from the language file and from the
 * routes. Knows neither the log nor any other door. Upholds that every example works as it stands,
 * and that nothing of it is loaded or held in memory before somebody requests it.
 */
import { SERVICE_LINK_HEADER } from '@open-presence/protocol';

import { contentHash, sendResponse } from '../../http/response/response.ts';
import { contentLanguage, NO_STORE, NO_CACHE } from '../../http/response/headers.ts';
import { publicAddressOf } from '../../http/public-address.ts';
import type { Representation } from '../../http/routing/door.ts';
import {
  localizationFor,
  type DoorContext,
  type DoorHandler,
  type ProtocolDoor,
} from '../context.ts';
import { languageFile, languageSchema, robots, SECURITY_TXT, securityTxt } from './files.ts';
import { REFERENCE_SCRIPTS } from './reference-scripts.ts';
import type { PAGES, RenderedPage } from './pages.ts';

type PageName = keyof typeof PAGES;

/** Pages with one representation, and the names by which OpenAPI describes their content. */
const DOCUMENTS: readonly (readonly [
  name: PageName,
  path: string,
  type: string,
  content: string,
])[] = [
  ['openapi', '/openapi.json', 'application/json', 'OpenApi'],
  ['openapiYaml', '/openapi.yaml', 'application/yaml', 'OpenApiYaml'],
  ['reference', '/reference', 'text/html', 'Html'],
  ['llms', '/llms.txt', 'text/plain', 'Markdown'],
  ['skill', '/skill.md', 'text/markdown', 'Markdown'],
  ['protocol', '/protocol.md', 'text/markdown', 'Markdown'],
  ['apiCatalog', '/.well-known/api-catalog', 'application/linkset+json', 'ApiCatalog'],
  ['aiCatalog', '/.well-known/ai-catalog.json', 'application/ai-catalog+json', 'AiCatalog'],
];

export const docsDoor: ProtocolDoor = {
  routes: [
    {
      path: '/',
      get: [
        pageAs('text/markdown', 'text/markdown', 'Markdown'),
        pageAs('text/plain', 'text/plain', 'PlainText'),
      ],
      description: { id: 'home', door: 'status', untagged: true },
    },
    document('language', '/mova-snu.yaml', {
      type: 'application/yaml',
      handle: languageFile,
      content: 'LanguageFile',
    }),
    document('schema', '/mova-snu.schema.json', {
      type: 'application/schema+json',
      handle: languageSchema,
      content: 'JsonSchema',
    }),
    ...DOCUMENTS.map(([name, path, type, content]) =>
      document(name, path, pageAs(type, name, content)),
    ),
    ...REFERENCE_SCRIPTS.map(({ path, handle }) => ({
      path,
      get: [{ type: 'text/javascript', handle }],
      description: { paths: [] },
    })),
    {
      path: SECURITY_TXT,
      get: [{ type: 'text/plain', handle: securityTxt }],
      // Most gateways have none: OpenAPI shows what can be requested as it stands.
      description: { paths: [], parameters: ['as'] },
    },
    document('robots', '/robots.txt', { type: 'text/plain', handle: robots, content: 'Robots' }),
  ],
};

function document(
  id: string,
  path: string,
  representation: Representation<DoorContext>,
): ProtocolDoor['routes'][number] {
  return { path, get: [representation], description: { id, parameters: ['as'] } };
}

/** A page of PAGES as a representation; OpenAPI describes it by the name `content`. */
function pageAs(type: string, name: PageName, content: string): Representation<DoorContext> {
  const isWelcome = name.includes('/');
  const handle: DoorHandler = async (context) => {
    const { PAGES } = await import('./pages.ts');
    const { app } = context;
    const { routes } = app;
    const localization = localizationFor(context);
    const address = publicAddressOf(context);
    const [path = ''] = (context.request.url ?? '').split('?', 1);
    const root = path.endsWith('/') ? '..' : '.';
    const page: RenderedPage = await PAGES[name]({ ...localization, app, routes, address, root });
    const headers = {
      ...(isWelcome ? NO_STORE : NO_CACHE),
      ...contentLanguage(localization.locale, ...(isWelcome ? ['Accept'] : [])),
      ...SERVICE_LINK_HEADER,
      ...page.headers,
    };
    const { body } = page;
    const charset = type.startsWith('text/') ? '; charset=utf-8' : '';
    await sendResponse(context, {
      status: 200,
      type: page.type ?? type + charset,
      headers,
      body,
      ...(isWelcome ? {} : { tag: `"${contentHash(body)}"` }),
    });
  };
  return { type, handle, content };
}
