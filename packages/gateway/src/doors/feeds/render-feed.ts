/** Reads a page of a feed from the log and renders it as a response. */
import { FEED_TYPES, pagePath, type FeedForm } from '@open-presence/protocol';

import { cachedResponseOf, type CachedResponse } from '../../http/response/response-cache.ts';
import type { Log, ReadEnd } from '../../log/log.ts';
import { withText } from '../../operations/find-entry.ts';
import { nextPagePath, pathWithQuery, withParameter } from '../../operations/next-page.ts';
import { readPage } from '../../operations/read-page.ts';
import type { DoorContext } from '../context.ts';
import { atomOf } from './atom.ts';
import { filtersOf, idOf, titleOf } from './feed-identity.ts';
import type { FeedQuery } from './feed-request.ts';
import { itemOf, type Item } from './item.ts';
import { jsonFeedOf } from './json-feed.ts';
import type { Page } from './page.ts';

/** A page ends with the item by which it has this size, in UTF-16 code units. */
const PAGE_SIZE = 256 * 1024;
/** About what an item takes beside its text. */
const ITEM_OVERHEAD = 512;
/** In bytes. If links are longer, a feed has only the one to its next page, and not as a header. */
const MAX_LINK = 4096;
const EPOCH = new Date(0).toISOString();

const WRITERS: Readonly<Record<FeedForm, (page: Page) => string>> = {
  atom: atomOf,
  'json-feed': jsonFeedOf,
};

export async function renderFeed(app: DoorContext, query: FeedQuery): Promise<CachedResponse> {
  const { form, head, tag, encoding, headers } = query;
  const page = await pageOf(app, query);
  const plain = Buffer.from(WRITERS[form](page));
  const type = `${FEED_TYPES[form]}; charset=utf-8`;
  const isLinked = page.next !== null && page.next.length <= MAX_LINK;
  const links = isLinked ? { Link: `<${page.next}>; rel="next"` } : {};
  return await cachedResponseOf({ head, tag, type, plain, encoding, headers, links });
}

async function pageOf(app: DoorContext, query: FeedQuery): Promise<Page> {
  const { scope, path, language, locale, text, base, head, parameters, selection } = query;
  const { items, end } = await readItems(app.log, query);
  const filters = await filtersOf(scope, parameters);
  const cursor = selection.order === 'newest' ? 'before' : 'after';
  const self = await pathWithQuery(path, parameters);
  // The next page after an empty one would be the same page.
  const hasNext = end.more && items.length > 0;
  return {
    language,
    locale,
    text,
    base,
    id: await idOf(app.log, scope, filters),
    title: titleOf(query, filters),
    links:
      self.length > MAX_LINK
        ? undefined
        : {
            self,
            first: await pathWithQuery(path, await withParameter(parameters, cursor, undefined)),
            listing: await pathWithQuery(scope.path, filters),
          },
    next: hasNext ? await nextPagePath({ path, parameters, selection, head }, end) : null,
    page: pagePath(scope.path) ?? '/',
    updated: await updatedAt(app.log, query, items),
    items,
  };
}

async function readItems(
  log: Log,
  query: FeedQuery,
): Promise<{ items: readonly Item[]; end: ReadEnd }> {
  const items: Item[] = [];
  const end = await readPage(log.readEntries(query.selection), PAGE_SIZE, async (entry) => {
    const item = await itemOf(await withText(log, entry), query);
    items.push(item);
    return item.text.length + item.author.length + ITEM_OVERHEAD;
  });
  return { items, end };
}

/** When the newest entry of the feed was stored. On a page that is newest first, that is the first entry. */
async function updatedAt(
  log: Log,
  { selection, head }: FeedQuery,
  [first]: readonly Item[],
): Promise<string> {
  if (selection.order === 'newest' && first !== undefined) return first.timestamp;
  const { after: _, ...all } = selection;
  const newest = { ...all, order: 'newest', before: head + 1, limit: 1 } as const;
  for await (const { metadata } of log.readEntries(newest))
    return new Date(metadata.time).toISOString();
  return EPOCH;
}
