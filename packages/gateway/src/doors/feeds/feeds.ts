/**
 * The feeds door (PROTOCOL.md section 15): listings as Atom and JSON Feed, at paths of their own and,
 * by content negotiation, at the paths of the listings. Owns caching and revalidation of pages;
 * `render-feed.ts` renders them. A page takes bounded memory, whatever its entries are.
 *
 * Invariant: A feed is well-formed, has visitors’ texts as plain text, and its pages have each
 *   entry once.
 * Test: `test/feeds/feeds.test.ts` “stay well-formed and say what was said, whatever visitors say”
 *   “give each entry once, page by page, while others speak”
 */
import {
  FEED_FORMS,
  FEED_TYPES,
  type FeedForm,
  feedPath,
  isKind,
  SHORT_FEED_PATHS,
} from '@open-presence/protocol';

import { abortOnDisconnect, isDisconnected } from '../../http/context.ts';
import { matchesEtag } from '../../http/negotiation.ts';
import { queryOf } from '../../http/parameters/query.ts';
import { type CachedResponse, sendCached } from '../../http/response/response-cache.ts';
import {
  everythingScope,
  LISTED_SCOPES,
  type ScopeResolver,
} from '../../operations/listing-scope.ts';
import { isSearch, untilSearchable } from '../../operations/search-watermark.ts';
import { waitForListing } from '../../operations/wait.ts';
import type { DoorHandler, DoorRequest, ProtocolDoor } from '../context.ts';
import { LISTING_PARAMETERS } from '../listing-parameters.ts';
import { cacheKeyOf, feedQuery, feedRequest, renderFeed, type FeedRequest } from './render-feed.ts';

/** The names of the feeds of all entries. */
const IDS: Readonly<Record<FeedForm, string>> = { atom: 'feed', 'json-feed': 'jsonFeed' };
const PARAMETERS = [...LISTING_PARAMETERS, 'withheld'];

export const feedsDoor: ProtocolDoor = {
  routes: FEED_FORMS.flatMap((form) => [
    shortRoute(form),
    ...LISTED_SCOPES.flatMap(([path, scopeOf]) => [
      route(path, scopeOf, form),
      { path, get: [representation(feed(scopeOf, form), form)] },
    ]),
  ]),
};

type FeedRoute = ProtocolDoor['routes'][number];

function shortRoute(form: FeedForm): FeedRoute {
  const path = SHORT_FEED_PATHS[form];
  return {
    path,
    get: [representation(feed(everythingScope, form, path), form)],
    description: { id: IDS[form], parameters: PARAMETERS },
  };
}

function route(listing: string, scopeOf: ScopeResolver, form: FeedForm): FeedRoute {
  const ofOneKind = isKind(listing.slice('/api/'.length));
  const parameters = PARAMETERS.filter((name) => !ofOneKind || name !== 'kind');
  return {
    path: feedPath(listing, form),
    get: [representation(feed(scopeOf, form), form)],
    description: { parameters, ...(ofOneKind ? { fixed: ['kind'] } : {}) },
  };
}

function representation(handle: DoorHandler, form: FeedForm) {
  const refused = { with: 'a feed has entries as they were stored' };
  return { type: FEED_TYPES[form], onlyIfNamed: true, handle, refused } as const;
}

/** Larger pages, in bytes, are not cached. */
const MAX_CACHED_SIZE = 256 * 1024;

/**
 * The handler that sends a page of a scope's feed. Pages link to each other at `path`, by default the listing's
 * path with the form appended.
 */
function feed(scopeOf: ScopeResolver, form: FeedForm, path?: string): DoorHandler {
  return async (context) => {
    const { app, request, params } = context;
    const scope = scopeOf(app, params);
    using caller = abortOnDisconnect(context);
    const { signal } = caller;
    if (request.url?.includes('wait=') === true) {
      await waitForListing(app, scope, queryOf(request), signal);
    }
    const searches = isSearch(request.url ?? '');
    if (searches) await untilSearchable(app.log, signal);
    const address = { scope, form, path: path ?? feedPath(scope.path, form) };
    await sendFeed(context, feedRequest(context, address), searches ? signal : undefined);
  };
}

/** The signal ends a reading that searches. */
async function sendFeed(
  context: DoorRequest,
  wanted: FeedRequest,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { app, request, response } = context;
  const { responseCache } = app;
  if (isDisconnected(context)) return;
  const key = cacheKeyOf(wanted, request.url ?? '');
  const cached = responseCache.get(key, wanted.head);
  if (cached !== undefined) return sendCached(context, cached);
  const query = await feedQuery(context, wanted);
  if (matchesEtag(request.headers['if-none-match'], query.tag)) {
    response.writeHead(304, query.headers).end();
    return;
  }
  let rendered: CachedResponse | undefined;
  const render = (ending: AbortSignal | undefined): Promise<CachedResponse> => {
    const { selection } = query;
    const selected = ending === undefined ? selection : { ...selection, signal: ending };
    return renderFeed(app, { ...query, selection: selected });
  };
  const shared = await responseCache.create(key, query.head, signal, async (ending) => {
    rendered = await render(ending);
    return rendered.body.length <= MAX_CACHED_SIZE ? rendered : undefined;
  });
  const page = shared ?? rendered ?? (await render(signal));
  if (!isDisconnected(context)) sendCached(context, page);
}
