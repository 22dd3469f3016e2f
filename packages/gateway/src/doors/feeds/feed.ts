/**
 * The feeds of listings (PROTOCOL.md section 15): handles a request for one page.
 *
 * Owns caching and revalidation of pages; `render-feed.ts` renders them. Does not know which entries
 * a scope has: listings use the same scopes. Upholds:
 * - a page takes bounded memory, whatever its entries are.
 * - pages read one after another have each entry once.
 * - a page is well-formed, and visitors' words in it are plain text, whatever they say.
 */
import { feedPath, type FeedForm } from '@open-presence/protocol';

import { abortOnDisconnect, isDisconnected } from '../../http/context.ts';
import { queryOf } from '../../http/query.ts';
import { matchesEtag } from '../../http/negotiation.ts';
import { sendCached, type CachedResponse } from '../../http/response/response-cache.ts';
import type { ScopeResolver } from '../../operations/listing-scope.ts';
import { isSearch, untilSearchable } from '../../operations/search-watermark.ts';
import { waitForListing } from '../../operations/wait.ts';
import type { DoorHandler, DoorRequest } from '../context.ts';
import { renderFeed } from './render-feed.ts';
import { cacheKeyOf, feedQuery, feedRequest, type FeedRequest } from './feed-request.ts';

/** Larger pages, in bytes, are not cached. */
const MAX_CACHED_SIZE = 256 * 1024;

/**
 * The handler that sends a page of a scope's feed. Pages lead to one another at `path`, by default
 * that of the listing with the form appended.
 */
export function feed(scopeOf: ScopeResolver, form: FeedForm, path?: string): DoorHandler {
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
