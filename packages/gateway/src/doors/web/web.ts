/**
 * The web door: the pages for people, in a browser.
 *
 * Owns the addresses of pages and what only pages request (below `/web/`), which is no part of the
 * contract. Refuses to know how pages look: `@open-presence/web` renders plain data. Upholds that a
 * page is complete without scripts, that it loads nothing from elsewhere, and that nothing of the
 * pages is loaded or held in memory before somebody requests one.
 */
import { GatewayError, KINDS, quoted } from '@open-presence/protocol';

import type { DoorRequest, ProtocolDoor } from '../context.ts';
import { assetsRoute } from './assets.ts';
import { dataRoutes } from './data-routes.ts';
import { hasPages } from './has-pages.ts';
import { pageRedirect } from './page-redirect.ts';
import { pageHandler, pageRoute } from './page-route.ts';
import { privateRoute } from './private-route.ts';

/** Paths of the API that lead browsers to a page (PROTOCOL.md section 17.5). */
const SHOWN_BY_PAGES = ['/api/entries/{id}', '/api/rooms/{slug}', '/api/search', '/api/garden'];

const builtPages: ProtocolDoor = {
  routes: [
    pageRoute('/', () => import('./pages/house.ts')),
    pageRoute('/garden', () => import('./pages/garden.ts')),
    pageRoute('/rooms/{slug}', () => import('./pages/room.ts')),
    pageRoute('/entries/{id}', () => import('./pages/one-entry.ts')),
    pageRoute('/search', () => import('./pages/search.ts')),
    pageRoute('/inbox', () => import('./pages/inbox.ts')),
    pageRoute('/speak', () => import('./pages/speak.ts')),
    pageRoute('/write', () => import('./pages/write.ts')),
    ...KINDS.map((kind) => ({
      path: `/api/${kind}`,
      get: [],
      async postFromPage(context: DoorRequest) {
        const { postFromPage } = await import('./forms/post-from-page.ts');
        await postFromPage(context, kind);
      },
    })),
    ...SHOWN_BY_PAGES.map((path) => ({ path, get: [pageRedirect] })),
    assetsRoute,
    privateRoute('/web/manifest.webmanifest', 'application/manifest+json', async (context) => {
      const { sendManifest } = await import('./manifest.ts');
      await sendManifest(context);
    }),
    privateRoute('/favicon.ico', 'image/svg+xml', async (context) => {
      const { sendIcon } = await import('./manifest.ts');
      await sendIcon(context);
    }),
    ...dataRoutes,
  ],
  notFound: {
    // Protocols of programs answer in their own form.
    paths: /^\/(?!(?:api|a2a|mcp|web|\.well-known)(?:[/?]|$))/,
    type: 'text/html',
    handle: pageHandler(() => Promise.resolve({ createPage: noPage })),
  },
};

function noPage({ request }: DoorRequest): never {
  throw new GatewayError('not-found', `There is no page at ${quoted(request.url ?? '')}.`);
}

/** Without built pages, browsers get what programs get. */
export const webDoor: ProtocolDoor = hasPages() ? builtPages : { routes: [] };
