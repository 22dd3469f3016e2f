/**
 * The docs door: descriptions of the gateway (PROTOCOL.md section 17), so that a visitor who has
 * only its address finds out what can be done here, by whichever convention it was built for.
 *
 * Owns the forms of the descriptions; what they state comes from the language file and from the
 * routes. Knows neither the log nor any other door. Upholds that every example works as it stands,
 * and that nothing of it is loaded or held in memory before somebody requests it.
 */
import { SERVICE_LINK_HEADER } from '@open-presence/protocol';

import { contentHash, sendResponse } from '../../http/response.ts';
import { contentLanguage, NO_STORE, NO_CACHE } from '../../http/headers.ts';
import { localeFor } from '../../http/context.ts';
import { publicAddressOf } from '../../http/public-address.ts';
import type { Representation } from '../../http/router.ts';
import type { DoorContext, DoorHandler, ProtocolDoor } from '../context.ts';
import { languageFile, languageSchema, robots } from './files.ts';
import type { PAGES, RenderedPage } from './pages.ts';

type PageName = keyof typeof PAGES;

export const docsDoor: ProtocolDoor = {
  routes: [
    {
      path: '/',
      get: [
        pageAs('text/markdown', 'text/markdown', 'Markdown'),
        pageAs('text/plain', 'text/plain', 'PlainText'),
        pageAs('text/html', 'text/html', 'Html'),
      ],
      description: { id: 'home', door: 'status', untagged: true },
    },
    document('/mova-snu.yaml', 'language', {
      type: 'application/yaml',
      handle: languageFile,
      content: 'LanguageFile',
    }),
    document('/mova-snu.schema.json', 'schema', {
      type: 'application/schema+json',
      handle: languageSchema,
      content: 'JsonSchema',
    }),
    document('/openapi.json', 'openapi', pageAs('application/json', 'openapi', 'OpenApi')),
    document(
      '/openapi.yaml',
      'openapiYaml',
      pageAs('application/yaml', 'openapiYaml', 'OpenApiYaml'),
    ),
    document('/reference', 'reference', pageAs('text/html', 'reference', 'Html')),
    document('/llms.txt', 'llms', pageAs('text/plain', 'llms', 'Markdown')),
    document('/skill.md', 'skill', pageAs('text/markdown', 'skill', 'Markdown')),
    document('/protocol.md', 'protocol', pageAs('text/markdown', 'protocol', 'Markdown')),
    document(
      '/.well-known/api-catalog',
      'apiCatalog',
      pageAs('application/linkset+json', 'apiCatalog', 'ApiCatalog'),
    ),
    document(
      '/.well-known/ai-catalog.json',
      'aiCatalog',
      pageAs('application/ai-catalog+json', 'aiCatalog', 'AiCatalog'),
    ),
    document('/robots.txt', 'robots', { type: 'text/plain', handle: robots, content: 'Robots' }),
  ],
};

function document(
  path: string,
  id: string,
  representation: Representation<DoorContext>,
): ProtocolDoor['routes'][number] {
  return { path, get: [representation], description: { id, parameters: ['as'] } };
}

/** A page of PAGES as a representation; OpenAPI describes it by the name `content`. */
function pageAs(type: string, name: PageName, content: string): Representation<DoorContext> {
  const isWelcome = name.includes('/');
  const handle: DoorHandler = async (context) => {
    const { app, request } = context;
    const { PAGES, guideContext } = await import('./pages.ts');
    const locale = localeFor(request);
    const page: RenderedPage = await PAGES[name](
      guideContext(app, locale, publicAddressOf(context)),
    );
    const headers = {
      ...(isWelcome ? NO_STORE : NO_CACHE),
      ...contentLanguage(locale, ...(isWelcome ? ['Accept'] : [])),
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
