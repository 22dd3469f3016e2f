/**
 * The docs door: descriptions of the gateway (PROTOCOL.md section 17), so that a visitor who has
 * only its address finds out what can be done here, by whichever convention it was built for.
 *
 * Owns the forms of the descriptions. What they state comes from the language file, from the routes and,
 * for the REST interface, from `openapi.yaml` of the protocol. Knows neither the log nor any other door.
 *
 * Invariant: A visitor that has only the address reaches a first contact, by whichever convention
 *   it knows.
 * Test: `test/ways-in/ways-in.test.ts` “by …, in …” “every request that a guide shows works as it
 *   stands”
 *
 * Invariant: No description is loaded or held in memory before somebody requests it.
 * Test: `test/lazy-loading.test.ts` “nothing of this is loaded before it is asked for:”
 */
import { ARD_PATH, SERVICE_LINK_HEADER } from '@open-presence/protocol';

import { contentHash, sendResponse } from '../../http/response/response.ts';
import { contentLanguage, NO_STORE, NO_CACHE } from '../../http/response/headers.ts';
import { takenNames } from '../../http/parameters/parameter-check.ts';
import { queryOf } from '../../http/parameters/query.ts';
import { publicAddressOf } from '../../http/public-address.ts';
import { localizationFor, type DoorHandler, type ProtocolDoor } from '../context.ts';
import {
  languageFile,
  languageSchema,
  openApi,
  robots,
  SECURITY_TXT,
  securityTxt,
} from './files.ts';
import type { PAGES, RenderedPage } from './pages.ts';

type PageName = keyof typeof PAGES;

/** Pages with one representation. */
const DOCUMENTS: readonly (readonly [name: PageName, path: string, type: string])[] = [
  ['llms', '/llms.txt', 'text/plain'],
  ['skill', '/skill.md', 'text/markdown'],
  ['protocol', '/protocol.md', 'text/markdown'],
  ['apiCatalog', '/.well-known/api-catalog', 'application/linkset+json'],
  ['ard', ARD_PATH, 'application/json'],
];

export const docsDoor: ProtocolDoor = {
  routes: [
    {
      path: '/',
      get: (['text/markdown', 'text/plain'] as const).map((type) => {
        return { type, handle: page(type, type), taken: takenNames(['as']) };
      }),
    },
    document('language', '/mova-snu.yaml', 'application/yaml', languageFile),
    document('schema', '/mova-snu.schema.json', 'application/schema+json', languageSchema),
    document('openapi', '/openapi.json', 'application/json', openApi('json')),
    document('openapiYaml', '/openapi.yaml', 'application/yaml', openApi('yaml')),
    ...DOCUMENTS.map(([name, path, type]) => document(name, path, type, page(type, name))),
    {
      path: SECURITY_TXT,
      get: [{ type: 'text/plain', handle: securityTxt }],
      description: { parameters: ['as'] },
    },
    document('robots', '/robots.txt', 'text/plain', robots),
  ],
};

function document(
  id: string,
  path: string,
  type: string,
  handle: DoorHandler,
): ProtocolDoor['routes'][number] {
  const parameters = id === 'protocol' ? ['section', 'as'] : ['as'];
  return { path, get: [{ type, handle }], description: { id, parameters } };
}

/** Sends a page of PAGES. */
function page(type: string, name: PageName): DoorHandler {
  const isWelcome = name.includes('/');
  return async (context) => {
    const { PAGES } = await import('./pages.ts');
    const { routes, publicUrl } = context.app;
    const localization = localizationFor(context);
    const address = publicAddressOf(context);
    const query = queryOf(context.request);
    const place = { routes, publicUrl, address, query };
    const rendered: RenderedPage = await PAGES[name]({ ...localization, ...place });
    const headers = {
      ...(isWelcome ? NO_STORE : NO_CACHE),
      ...contentLanguage(localization.locale, ...(isWelcome ? ['Accept'] : [])),
      ...SERVICE_LINK_HEADER,
      ...rendered.headers,
    };
    const { body } = rendered;
    const charset = type.startsWith('text/') ? '; charset=utf-8' : '';
    await sendResponse(context, {
      status: 200,
      type: rendered.type ?? type + charset,
      headers,
      body,
      ...(isWelcome ? {} : { tag: `"${contentHash(body)}"` }),
    });
  };
}
