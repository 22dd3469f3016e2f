/**
 * The docs door: what the gateway says of itself (PROTOCOL.md section 17), so that a visitor who
 * has only its address finds out what can be done here, by whichever convention it was built for.
 *
 * Owns descriptions, each made of the language file and of the routes that there are; refuses to
 * know the log. Upholds that every example works as it stands, and that nothing of it is loaded,
 * or held in memory, before somebody asks.
 */
import { SERVICE_LINK_HEADER } from '@open-presence/protocol';

import { sendResponse, contentHash } from '../../http/response.ts';
import { contentLanguage, NO_STORE, NO_CACHE } from '../../http/headers.ts';
import { localeFor } from '../../http/context.ts';
import { publicAddressOf } from '../../http/public-address.ts';
import type { Representation } from '../../http/router.ts';
import type { DoorContext, DoorHandler, ProtocolDoor } from '../context.ts';
import { languageFile, languageSchema } from './language.ts';
import { robots } from './robots.ts';
import type { PAGES } from './written.ts';

type PageName = keyof typeof PAGES;

export const docsDoor: ProtocolDoor = {
  routes: [
    { path: '/', get: [home('text/markdown'), home('text/plain'), home('text/html')] },
    { path: '/mova-snu.yaml', get: languageFile },
    { path: '/mova-snu.schema.json', get: languageSchema },
    { path: '/openapi.json', get: page('openapi') },
    { path: '/openapi.yaml', get: page('openapiYaml') },
    { path: '/reference', get: page('reference') },
    { path: '/llms.txt', get: page('llms') },
    { path: '/skill.md', get: page('skill') },
    { path: '/protocol.md', get: page('protocol') },
    { path: '/.well-known/api-catalog', get: page('apiCatalog') },
    { path: '/.well-known/ai-catalog.json', get: page('aiCatalog') },
    { path: '/robots.txt', get: robots },
  ],
};

/** The welcome page in one of its forms. */
function home(
  type: PageName & ('text/markdown' | 'text/plain' | 'text/html'),
): Representation<DoorContext> {
  return { type, handle: page(type) };
}

function page(name: PageName): DoorHandler {
  return async (context) => {
    const { app, request } = context;
    const { PAGES } = await import('./written.ts');
    const locale = localeFor(request);
    const { language } = app;
    const address = publicAddressOf(context);
    const written = await PAGES[name]({ app, language, locale, address, routes: app.routes });
    const { type, body } = written;
    const isHome = name.includes('/');
    const headers = {
      ...(isHome ? NO_STORE : NO_CACHE),
      ...contentLanguage(locale, ...(isHome ? ['Accept'] : [])),
      ...SERVICE_LINK_HEADER,
      ...('headers' in written ? written.headers : {}),
    };
    const tag = isHome ? {} : { tag: `"${contentHash(body)}"` };
    await sendResponse(context, { status: 200, type, headers, body, ...tag });
  };
}
