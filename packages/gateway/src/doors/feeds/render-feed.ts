/** What a request for a feed selects, and its page, read from the log and rendered as a response. */
import { hash } from 'node:crypto';

import {
  EVERYTHING,
  FEED_TYPES,
  pagePath,
  SELECTOR_NAMES,
  type FeedForm,
} from '@open-presence/protocol';

import { contentHash } from '../../http/response/response.ts';
import { cachedResponseOf, type CachedResponse } from '../../http/response/response-cache.ts';
import { queryOf } from '../../http/parameters/query.ts';
import {
  COMMON_HEADERS,
  contentLanguage,
  NO_CACHE,
  type Headers,
} from '../../http/response/headers.ts';
import { preferredEncoding, type Encoding } from '../../http/negotiation.ts';
import { publicAddressOf } from '../../http/public-address.ts';
import type { Localization } from '../../http/route-description.ts';
import { parseSearchSelection } from '../../intake/selection.ts';
import type { Log, ReadEnd, Selection, Seq } from '../../log/log.ts';
import { withText } from '../../operations/find-entry.ts';
import { titleExcerpt, type ListingScope } from '../../operations/listing-scope.ts';
import { nextPagePath, pathWithQuery, withoutParameter } from '../../operations/next-page.ts';
import { pageSelection, readPage } from '../../operations/read-page.ts';
import { readVersion } from '../../operations/read-version.ts';
import { searchWatermarkFor } from '../../operations/search-watermark.ts';
import { localizationFor, type DoorContext, type DoorRequest } from '../context.ts';
import { atomOf } from './atom.ts';
import { itemOf, type Item, type Page } from './item.ts';
import { jsonFeedOf } from './json-feed.ts';

/** A feed at one address. */
interface FeedAddress {
  readonly scope: ListingScope;
  readonly form: FeedForm;
  readonly path: string;
}

/** What decides which cached response answers a request. */
export interface FeedRequest extends FeedAddress, Localization {
  readonly encoding: Encoding | undefined;
  /** The gateway's address, for absolute links. */
  readonly base: string;
  readonly head: Seq;
  /** The seq up to which words are indexed, where the request searches. */
  readonly watermark: Seq | undefined;
  /** See `readVersion`. */
  readonly version: string;
}

/** A request whose parameters were read. */
export interface FeedQuery extends FeedRequest {
  readonly parameters: URLSearchParams;
  readonly selection: Selection;
  readonly tag: string;
  /** The headers of every answer to it, a 304 too. */
  readonly headers: Headers;
}

export function feedRequest(context: DoorRequest, address: FeedAddress): FeedRequest {
  const { app, request } = context;
  return {
    ...address,
    encoding: preferredEncoding(request.headers['accept-encoding']),
    ...localizationFor(context),
    base: publicAddressOf(context),
    head: app.log.head(),
    watermark: searchWatermarkFor(app.log, request.url ?? ''),
    version: readVersion(app.log),
  };
}

/** The key of the answer in the response cache, where the head counts as well. */
export function cacheKeyOf(wanted: FeedRequest, url: string): string {
  const { form, encoding, locale, base, watermark, version } = wanted;
  return `${form} ${encoding ?? ''} ${locale ?? ''} ${base} ${watermark ?? ''} ${version} ${url}`;
}

/** Throws for parameters that cannot be used. */
export async function feedQuery(
  { app, request }: DoorRequest,
  wanted: FeedRequest,
): Promise<FeedQuery> {
  const { scope, locale, head } = wanted;
  const parameters = queryOf(request);
  const { grammar, log } = app;
  const selected = await parseSearchSelection(parameters, { ...scope, grammar, log });
  const tag = tagOf(app.log.id, app.languageHash, wanted);
  return {
    ...wanted,
    parameters,
    selection: pageSelection(selected, parameters, head),
    tag,
    headers: { ETag: tag, ...NO_CACHE, ...contentLanguage(locale, 'Accept'), ...COMMON_HEADERS },
  };
}

/** Weak: encodings of the same page share it. */
function tagOf(logId: string, languageHash: string, wanted: FeedRequest): string {
  const { form, locale, base, head, watermark, version } = wanted;
  const variant = `${base} ${languageHash} ${locale ?? ''} ${watermark ?? ''} ${version}`;
  return `W/"${logId.slice(0, 8)}-${head}-${form}-${contentHash(Buffer.from(variant))}"`;
}

/** A page ends with the item by which it has this size, in UTF-16 code units. */
const PAGE_SIZE = 256 * 1024;
/** About what an item takes beside its text. */
const ITEM_OVERHEAD = 512;
/** In bytes. A longer link is in the feed alone: clients refuse long headers. */
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
  const filters = filtersOf(scope, parameters);
  const cursor = selection.order === 'newest' ? 'before' : 'after';
  // The next page after an empty one would be the same page.
  const hasNext = end.more && items.length > 0;
  return {
    language,
    locale,
    text,
    base,
    id: await idOf(app.log, scope, filters),
    title: titleOf(query, filters),
    links: {
      self: pathWithQuery(path, parameters),
      first: pathWithQuery(path, withoutParameter(parameters, cursor)),
      listing: pathWithQuery(scope.path, filters),
    },
    next: hasNext ? nextPagePath({ path, parameters, selection, head }, end) : null,
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

/** Other parameters choose a page, or mean nothing. */
const FILTERS = new Set<string>(['q', 'room', 'kind', 'since', 'until', ...SELECTOR_NAMES]);
/** Stands for the path of all entries in ids, which must not change while somebody subscribes to the feed. */
const EVERYTHING_NAME = '/feed';
/** Filters that a title names at most. */
const MAX_TITLE_FILTERS = 4;

/** The parameters that tell one feed of a scope from another. */
function filtersOf({ fixed = {} }: ListingScope, parameters: URLSearchParams): URLSearchParams {
  const given = [...parameters].filter(([name]) => FILTERS.has(name) && !(name in fixed));
  return new URLSearchParams(given);
}

/** A UUID of version 8 (RFC 9562 section 5.8), the same at every address of the gateway. */
async function idOf(
  { id }: Pick<Log, 'id'>,
  { path }: ListingScope,
  filters: URLSearchParams,
): Promise<string> {
  const inOrder = new URLSearchParams(filters);
  inOrder.sort();
  const name = path === EVERYTHING ? EVERYTHING_NAME : path;
  const digest = hash('sha256', `${id} ${pathWithQuery(name, inOrder)}`, 'hex');
  const variant = '89ab'[Number.parseInt(digest[15] ?? '0', 16) % 4];
  const parts = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(12, 15)}`,
    `${variant}${digest.slice(16, 19)}`,
    digest.slice(20, 32),
  ];
  return `urn:uuid:${parts.join('-')}`;
}

function titleOf({ scope, language, locale, text }: FeedRequest, filters: URLSearchParams): string {
  const named = filters.entries().take(MAX_TITLE_FILTERS);
  return [
    text(language.service),
    scope.title(language, locale),
    ...named.map(([name, value]) => `${name}: ${titleExcerpt(value)}`),
  ].join(' · ');
}
