/**
 * Feeds (PROTOCOL.md section 15): what a listing lists, in pages that feed readers read.
 *
 * Owns how entries are shown to people elsewhere; what is selected, and how an answer that is ready
 * is given, is the listing's. Upholds that a page takes flat memory whatever its entries are, that
 * pages read one after another have each entry once, and that whatever visitors say the page is
 * well-formed, with their words as plain text.
 */
import { hash } from 'node:crypto';

import {
  EVERYTHING,
  FEED_TYPES,
  type FeedForm,
  feedPath,
  type Locale,
  localize,
} from '@open-presence/protocol';

import { parseSelection } from '../../intake/selection.ts';
import type { ReadEnd, Selection, Seq } from '../../log/log.ts';
import { preferredEncoding, matchesEtag, type Encoding } from '../../http/negotiation.ts';
import { publicAddressOf } from '../../http/public-address.ts';
import { COMMON_HEADERS, contentEncoding, contentLanguage, NO_CACHE } from '../../http/headers.ts';
import { compress, MIN_COMPRESSED_SIZE } from '../../http/compression.ts';
import { abortOnDisconnect, isDisconnected, localeFor, queryOf } from '../../http/context.ts';
import {
  titleExcerpt,
  type ListingScope,
  type ScopeResolver,
} from '../../operations/listing-scope.ts';
import { searchWatermarkFor } from '../../operations/search-watermark.ts';
import { waitForListing } from '../../operations/wait.ts';
import type { DoorHandler, DoorRequest } from '../context.ts';
import { nextPagePath } from '../../operations/next-page.ts';
import { sendCached, type CachedResponse } from '../../http/response-cache.ts';
import { atomOf } from './atom.ts';
import { itemOf, type Item } from './item.ts';
import { jsonFeedOf } from './json-feed.ts';
import type { Page } from './page.ts';

/** Entries of a page whose `limit` nobody chose. */
export const BY_DEFAULT = 50;
/** A page ends with the entry by which its texts have come so far, in UTF-16 code units. */
const FULL = 256 * 1024;
/** Larger pages are not kept for the next caller. */
const KEPT = 256 * 1024;

/** What says what a feed has; other parameters say where a page of it is, or nothing. */
const CHOOSING = new Set([
  'q',
  'room',
  'kind',
  'since',
  'until',
  'identity',
  'identityType',
  'seeking',
  'to',
  'inReplyTo',
]);
/** Of these, so many are in the title. */
const TITLED = 4;
const NOTHING_SAID = new Date(0).toISOString();

const WRITERS: Readonly<Record<FeedForm, (page: Page) => string>> = {
  atom: atomOf,
  'json-feed': jsonFeedOf,
};

interface Question {
  readonly scope: ListingScope;
  readonly form: FeedForm;
  readonly encoding: Encoding | undefined;
  readonly locale: Locale | undefined;
  readonly base: string;
  readonly head: Seq;
  readonly tag: string;
}

/** The handler that sends a page of a scope's feed. */
export function feed(scopeOf: ScopeResolver, form: FeedForm): DoorHandler {
  return async (context) => {
    const { app, request, params } = context;
    const scope = scopeOf(app, params);
    if (request.url?.includes('wait=') === true) {
      using caller = abortOnDisconnect(context);
      await waitForListing(app, scope, queryOf(request), caller.signal);
    }
    await sendPage(context, scope, form);
  };
}

async function sendPage(context: DoorRequest, scope: ListingScope, form: FeedForm): Promise<void> {
  const { app, request, response } = context;
  const { headers, url = '' } = request;
  if (isDisconnected(context)) return;
  const encoding = preferredEncoding(headers['accept-encoding']);
  const locale = localeFor(request);
  const base = publicAddressOf(context);
  const head = app.log.head();
  const searched = searchWatermarkFor(app.log, url) ?? '';
  const key = `${form} ${encoding ?? ''} ${locale ?? ''} ${base} ${searched} ${url}`;
  const known = app.responseCache.get(key, head);
  if (known !== undefined) return sendCached(context, known);
  const edition = hash(
    'sha256',
    `${base} ${app.languageHash} ${locale ?? ''} ${searched}`,
    'hex',
  ).slice(0, 12);
  const tag = `W/"${app.log.id.slice(0, 8)}-${head}-${form}-${edition}"`;
  const question = { scope, form, encoding, locale, base, head, tag };
  const selection = selectionFor(context, question);
  if (matchesEtag(headers['if-none-match'], tag)) {
    response.writeHead(304, headersOf(question));
    response.end();
    return;
  }
  const make = (): Promise<CachedResponse> => readyOf(context, question, selection);
  let own: CachedResponse | undefined;
  const shared = await app.responseCache.create(key, head, async () => {
    own = await make();
    return own.body.length <= KEPT ? own : undefined;
  });
  const ready = shared ?? own ?? (await make());
  if (!isDisconnected(context)) sendCached(context, ready);
}

function headersOf({ tag, locale }: Question): CachedResponse['headers'] {
  return { ETag: tag, ...NO_CACHE, ...contentLanguage(locale, 'Accept'), ...COMMON_HEADERS };
}

/** Throws for parameters that cannot be used. */
function selectionFor({ app, request }: DoorRequest, { scope, head }: Question): Selection {
  const parameters = queryOf(request);
  const wanted = parseSelection(parameters, { ...scope, grammar: app.grammar });
  return {
    ...wanted,
    ...(parameters.has('limit') ? {} : { limit: BY_DEFAULT }),
    before: Math.min(wanted.before ?? Infinity, head + 1),
  };
}

async function readyOf(
  context: DoorRequest,
  question: Question,
  selection: Selection,
): Promise<CachedResponse> {
  const { form, head, tag, scope } = question;
  const { items, end } = await read(context, question, selection);
  const parameters = queryOf(context.request);
  const choice = choiceOf(scope, parameters);
  const path = feedPath(scope.path, form);
  // A page of nothing leads to itself.
  const goesOn = end.more && items.length > 0;
  const next = goesOn ? nextPagePath({ path, parameters, selection, head }, end) : null;
  const page = {
    ...question,
    language: context.app.language,
    id: idOf(context, scope, choice),
    title: titleOf(context, question, choice),
    self: withQuery(path, parameters),
    first: withQuery(path, without(parameters, selection.order === 'newest' ? 'before' : 'after')),
    next,
    listing: listingOf(scope, choice),
    updated: await updatedAt(context, selection, { head, items }),
    items,
  };
  const plain = Buffer.from(WRITERS[form](page));
  const encoding = plain.length < MIN_COMPRESSED_SIZE ? undefined : question.encoding;
  const body = encoding === undefined ? plain : await compress(encoding, plain);
  const common = headersOf(question);
  const headers = {
    'Content-Type': `${FEED_TYPES[form]}; charset=utf-8`,
    'Content-Length': String(body.length),
    ...contentEncoding(encoding),
    ...(next === null ? {} : { Link: `<${next}>; rel="next"` }),
    ...common,
  };
  return { head, tag, headers, body, notModifiedHeaders: common };
}

/** Entries until the page is full. */
async function read(
  context: DoorRequest,
  { locale }: Question,
  selection: Selection,
): Promise<{ items: readonly Item[]; end: ReadEnd }> {
  const { log, language } = context.app;
  const items: Item[] = [];
  const reading = log.readEntries(selection);
  let last: Seq | undefined;
  try {
    for (let size = 0; ;) {
      const step = await reading.next();
      if (step.done === true) return { items, end: step.value };
      if (size >= FULL) return { items, end: { last, more: true } };
      const item = await itemOf(step.value, { language, locale });
      items.push(item);
      last = step.value.stamp.seq;
      size += item.text.length + item.author.length + OVERHEAD;
    }
  } finally {
    await reading.return({ last: undefined, more: false });
  }
}

/** About what an item takes beside its text. */
const OVERHEAD = 512;

/** The newest of the page, if that is where it begins, else of the feed. */
async function updatedAt(
  { app }: DoorRequest,
  selection: Selection,
  { head, items }: { readonly head: Seq; readonly items: readonly Item[] },
): Promise<string> {
  const { after: _, ...all } = selection;
  if (selection.order === 'newest' && items[0] !== undefined) return items[0].timestamp;
  const newest = { ...all, order: 'newest', before: head + 1, limit: 1 } as const;
  for await (const { stamp } of app.log.readEntries(newest)) {
    return new Date(stamp.time).toISOString();
  }
  return NOTHING_SAID;
}

/** A name for the selection in this log, whatever the page and the address (RFC 9562 section 5.8). */
function idOf({ app }: DoorRequest, scope: ListingScope, choice: Choice): string {
  const parameters = new URLSearchParams(choice);
  parameters.sort();
  const digest = hash('sha256', `${app.log.id} ${withQuery(scope.path, parameters)}`, 'hex');
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

function listingOf({ path }: ListingScope, choice: Choice): string {
  return path === EVERYTHING ? '/api/discover' : withQuery(path, new URLSearchParams(choice));
}

/** What is listed, and by whom or for whom. */
function titleOf({ app }: DoorRequest, { scope, locale }: Question, choice: Choice): string {
  const { language } = app;
  return [
    localize(language.service, locale),
    scope.title(language, locale),
    ...choice.slice(0, TITLED).map(([name, value]) => `${name}: ${titleExcerpt(value)}`),
  ].join(' · ');
}

/** Names and values of the parameters that choose. */
type Choice = [string, string][];

function choiceOf(scope: ListingScope, parameters: URLSearchParams): Choice {
  const chooses = (name: string): boolean => CHOOSING.has(name) && (name !== 'kind' || scope.kinds);
  return [...parameters].filter(([name]) => chooses(name));
}

function without(parameters: URLSearchParams, name: string): URLSearchParams {
  const rest = new URLSearchParams(parameters);
  rest.delete(name);
  return rest;
}

function withQuery(path: string, parameters: URLSearchParams): string {
  const query = parameters.toString();
  return query === '' ? path : `${path}?${query}`;
}
