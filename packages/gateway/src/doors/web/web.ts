/**
 * The web door: the pages for people, in a browser.
 *
 * Owns the addresses of pages and what only pages request (below `/web/`), which is no part of the
 * contract. Refuses to know how pages look: `@open-presence/web` renders plain data. Upholds that a
 * page is complete without scripts, that it loads nothing from elsewhere, and that nothing of the
 * pages is loaded or held in memory before somebody requests one.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { GatewayError, KINDS, pagePath, quoted } from '@open-presence/protocol';

import type { RequestContext, StartupContext } from '../../http/context.ts';
import { COMMON_HEADERS, NO_CACHE, vary } from '../../http/response/headers.ts';
import type { Representation } from '../../http/routing/door.ts';
import { NOTICE_PATH } from '../../operations/notices.ts';
import type { DoorContext, DoorHandler, DoorRequest, ProtocolDoor } from '../context.ts';
import { assetsRoute } from './assets.ts';
import { pageHandler, pageRoute } from './page-route.ts';

/** Paths of the API that lead browsers to a page (PROTOCOL.md section 17.5). */
const SHOWN_BY_PAGES = ['/api/entries/{id}', '/api/rooms/{slug}', '/api/search', '/api/garden'];

/** Where many services have what is at `/speak` here. */
const ELSEWHERE = ['/docs', '/reference'];

/** Leads browsers from a path of the API to the page that shows what it answers. */
const pageRedirect: Representation<DoorContext> = {
  type: 'text/html',
  onlyIfNamed: true,
  handle: toPage,
  // The page says that the gateway wakes.
  whileStarting: toPage,
};

const JSON_TYPE = 'application/json';
const loadManifest = () => import('./manifest.ts');
const loadTexts = () => import('./pages/texts.ts');

const builtPages: ProtocolDoor = {
  routes: [
    pageRoute('/', () => import('./pages/house.ts')),
    pageRoute('/garden', () => import('./pages/garden.ts')),
    pageRoute('/rooms/{slug}', () => import('./pages/room.ts')),
    pageRoute('/entries/{id}', () => import('./pages/one-entry.ts')),
    pageRoute('/visitors', () => import('./pages/visitor.ts')),
    pageRoute('/visitors/{name}', () => import('./pages/visitor.ts')),
    pageRoute('/search', () => import('./pages/search.ts')),
    pageRoute('/inbox', () => import('./pages/inbox.ts')),
    pageRoute('/speak', () => import('./pages/speak.ts')),
    pageRoute('/write', () => import('./pages/write.ts')),
    pageRoute('/notice', () => import('./pages/notice.ts')),
    pageRoute('/notice/{number}', () => import('./pages/notice.ts')),
    ...(['privacy', 'terms'] as const).map((name) =>
      pageRoute(`/${name}`, async () => (await loadTexts()).ownTextPage(name)),
    ),
    {
      path: NOTICE_PATH,
      get: [],
      async postFromPage(context) {
        const { postNotice } = await import('./forms/post-notice.ts');
        await postNotice(context);
      },
    },
    ...KINDS.map((kind) => ({
      path: `/api/${kind}`,
      get: [],
      async postFromPage(context: DoorRequest) {
        const { postFromPage } = await import('./forms/post-from-page.ts');
        await postFromPage(context, kind);
      },
    })),
    ...SHOWN_BY_PAGES.map((path) => ({ path, get: [pageRedirect] })),
    ...ELSEWHERE.map((path) => ({
      path,
      get: [{ type: 'text/html', handle: toSpeak, whileStarting: toSpeak }],
    })),
    assetsRoute,
    lazyRoute('/web/manifest.webmanifest', 'application/manifest+json', async () => {
      return (await loadManifest()).sendManifest;
    }),
    lazyRoute('/favicon.ico', 'image/svg+xml', async () => (await loadManifest()).sendIcon),
    lazyRoute('/web/garden', JSON_TYPE, async () => {
      return (await import('./entries/garden-entries.ts')).sendGardenEntries;
    }),
    lazyRoute('/web/news', JSON_TYPE, async () => (await import('./entries/news.ts')).sendNews),
    lazyRoute('/web/entries/{id}', 'text/html', async () => {
      return (await import('./entries/entries.ts')).sendEntry;
    }),
    lazyRoute('/web/events', 'text/event-stream', async () => {
      return (await import('./entries/events.ts')).sendEvents;
    }),
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

export function hasPages(): boolean {
  return existsSync(fileURLToPath(import.meta.resolve('@open-presence/web/renderer')));
}

/** A path whose handler is loaded with the first request. */
function lazyRoute(
  path: string,
  type: string,
  load: () => Promise<DoorHandler>,
): ProtocolDoor['routes'][number] {
  return { path, get: [{ type, handle: async (context) => await (await load())(context) }] };
}

/** Without built pages, browsers get what programs get. */
export const webDoor: ProtocolDoor = hasPages() ? builtPages : { routes: [] };

function toSpeak({ response }: RequestContext<StartupContext>): void {
  const location = { Location: '/speak', 'Content-Length': '0' };
  response.writeHead(308, { ...location, ...NO_CACHE, ...vary(), ...COMMON_HEADERS });
  response.end();
}

function toPage({ request, response }: RequestContext<StartupContext>): void {
  const { url = '' } = request;
  const [path = ''] = url.split('?', 1);
  const page = pagePath(path.replace(/\/$/, '')) ?? '/';
  response.writeHead(303, {
    Location: page + url.slice(path.length),
    'Content-Length': '0',
    ...NO_CACHE,
    ...vary('Accept'),
    ...COMMON_HEADERS,
  });
  response.end();
}
