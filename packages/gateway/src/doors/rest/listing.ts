/**
 * Listings as JSON or NDJSON (PROTOCOL.md section 8).
 *
 * A small response is buffered, cached, and sent with its length and a link to the next page. A
 * larger one is streamed.
 *
 * Invariant: A listing that cannot be completed is cut off, so that nobody takes it for complete.
 * Test: `packages/gateway/src/doors/rest/listing.test.ts` “that the store fails to read is cut off,
 *   not completed”
 */
import type { IncomingMessage } from 'node:http';

import { listingLinks, type Locale } from '@open-presence/protocol';

import {
  COMMON_HEADERS,
  contentLanguage,
  contentEncoding,
  JSON_TYPE,
  NO_CACHE,
  vary,
  type Headers,
} from '../../http/response/headers.ts';
import { abortOnDisconnect, isDisconnected, localeFor } from '../../http/context.ts';
import { notesPart, parameterNotes } from '../../http/parameters/parameter-check.ts';
import { queryOf } from '../../http/parameters/query.ts';
import { preferredEncoding, streamEncoding, type Encoding } from '../../http/negotiation.ts';
import type { FindResponse } from '../../http/fast/repeated-gets.ts';
import { sendNotModified } from '../../http/response/not-modified.ts';
import {
  cachedResponseOf,
  sendCached,
  type CachedResponse,
  type ResponseCache,
} from '../../http/response/response-cache.ts';
import { sendBody } from '../../http/response/response-writer.ts';
import { parseSearchSelection } from '../../intake/selection.ts';
import type { Log, ReadEnd, Selection, Seq, TextRead } from '../../log/log.ts';
import { selectedTexts, type ResumableRead } from '../../log/resumable-text.ts';
import type { ListingScope, ScopeResolver } from '../../operations/listing-scope.ts';
import { nextPagePath } from '../../operations/next-page.ts';
import { boundedSelection } from '../../operations/read-page.ts';
import { readVersion } from '../../operations/read-version.ts';
import { readTextWithReplies, wantsReplies } from '../../operations/replies.ts';
import {
  isSearch,
  searchNotes,
  searchWatermarkFor,
  untilSearchable,
} from '../../operations/search-watermark.ts';
import { waitForListing } from '../../operations/wait.ts';
import type { DoorHandler, DoorRequest } from '../context.ts';
import { readerOf } from '../reading.ts';
import { FramedText } from './framed-text.ts';

type Form = 'json' | 'ndjson';

interface Negotiated {
  readonly encoding: Encoding | undefined;
  readonly locale: Locale | undefined;
}

/** What the key of a cached response consists of, with the URL. */
interface ListingRequest extends Negotiated {
  readonly scope: ListingScope;
  readonly form: Form;
  readonly head: Seq;
  /** The seq up to which words are indexed, where the request searches. */
  readonly watermark: Seq | undefined;
  /** Ends the reading of a request that searches. */
  readonly signal: AbortSignal | undefined;
}

/** A request whose parameters were parsed. */
interface Listing extends ListingRequest {
  readonly parameters: URLSearchParams;
  readonly selection: Selection;
  readonly withReplies: boolean;
  /** The part of the body before the entries. */
  readonly opening: string;
  readonly tag: string;
  readonly headers: Headers;
}

/** A listing that is small enough to be buffered. */
interface SmallListing {
  readonly chunks: readonly Uint8Array[];
  readonly end: ReadEnd;
}

/** Larger responses, in bytes, are streamed. */
const MAX_BUFFERED_SIZE = 256 * 1024;

const TYPES: Readonly<Record<Form, string>> = {
  json: JSON_TYPE,
  ndjson: 'application/x-ndjson; charset=utf-8',
};

const SEPARATORS = { json: ',\n', ndjson: '\n' } as const;

/** A handler that lists a scope in one form. */
export function listing(resolveScope: ScopeResolver, form: Form): DoorHandler {
  return (context) => {
    const { app, params } = context;
    const { url = '' } = context.request;
    const scope = resolveScope(app, params);
    if (isSearch(url)) return searchThenList(context, scope, form);
    if (url.includes('wait=')) return waitThenList(context, scope, form);
    // An answer that is sent again lacks the header `Warning`, and makes nobody present.
    if (parameterNotes(context.request).length === 0 && readerOf(context) === undefined)
      allowRepeated(context, scope, form);
    return list(context, scope, form, undefined);
  };
}

async function waitThenList(context: DoorRequest, scope: ListingScope, form: Form): Promise<void> {
  {
    using caller = abortOnDisconnect(context);
    const { app, request } = context;
    await waitForListing(app, scope, queryOf(request), caller.signal);
  }
  await list(context, scope, form, undefined);
}

async function searchThenList(
  context: DoorRequest,
  scope: ListingScope,
  form: Form,
): Promise<void> {
  using caller = abortOnDisconnect(context);
  const { app, request } = context;
  await waitForListing(app, scope, queryOf(request), caller.signal);
  await untilSearchable(app.log, caller.signal);
  await list(context, scope, form, caller.signal);
}

/** The signal ends a reading that searches. */
function list(
  context: DoorRequest,
  scope: ListingScope,
  form: Form,
  signal: AbortSignal | undefined,
): void | Promise<void> {
  const { app, request } = context;
  if (isDisconnected(context)) return;
  const negotiated = negotiate(request, scope);
  const head = app.log.head();
  const watermark = searchWatermarkFor(app.log, request.url ?? '');
  const key = cacheKey(app.log, requestKey(request, form, negotiated), watermark);
  const wanted = { scope, form, ...negotiated, head, watermark, signal };
  const found =
    signal === undefined ? app.responseCache.find(key, head) : app.responseCache.get(key, head);
  if (found === undefined) return answerFromLog(context, key, wanted);
  return found instanceof Promise
    ? answerFromPending(context, found, () => answerFromLog(context, key, wanted))
    : sendCached(context, found);
}

function negotiate(request: IncomingMessage, { room }: ListingScope): Negotiated {
  return {
    locale: room === undefined ? undefined : localeFor(request),
    encoding: preferredEncoding(request.headers['accept-encoding']),
  };
}

function requestKey(
  { url = '' }: IncomingMessage,
  form: Form,
  { encoding, locale }: Negotiated,
): string {
  return `${form} ${encoding ?? ''} ${locale ?? ''} ${url}`;
}

function cacheKey(log: Log, requested: string, watermark?: Seq): string {
  return `${requested} ${watermark ?? ''} ${readVersion(log)}`;
}

/** Each time the log grows, many readers of the same listing wait for one of them. */
async function answerFromPending(
  context: DoorRequest,
  pending: Promise<CachedResponse | undefined>,
  answerAlone: () => Promise<void>,
): Promise<void> {
  const cached = await pending;
  if (cached === undefined) await answerAlone();
  else if (!isDisconnected(context)) sendCached(context, cached);
}

/** Must keep nothing of the request: what finds its response may be kept for long. */
function allowRepeated({ app, request }: DoorRequest, scope: ListingScope, form: Form): void {
  const { log, responseCache } = app;
  const requested = requestKey(request, form, negotiate(request, scope));
  app.repeatedGets.allow(request, findAgain(log, responseCache, requested));
}

function findAgain(log: Log, cache: ResponseCache, requested: string): FindResponse {
  return () => cache.find(cacheKey(log, requested), log.head());
}

async function answerFromLog(
  context: DoorRequest,
  key: string,
  wanted: ListingRequest,
): Promise<void> {
  const { log, responseCache } = context.app;
  const listed = await listingOf(context, wanted);
  if (sendNotModified(context, listed.tag, listed.headers)) return;
  const { selection, form, head, signal } = listed;
  const cached = await responseCache.create(key, head, signal, async (ending) => {
    const selected = ending === undefined ? selection : { ...selection, signal: ending };
    const small = await readSmall(
      listed.withReplies
        ? readTextWithReplies(log, selected, SEPARATORS[form])
        : log.readText(selected, SEPARATORS[form]),
    );
    return small && (await responseOf(log, listed, small));
  });
  if (cached === undefined) await stream(context, listed);
  else if (!isDisconnected(context)) sendCached(context, cached);
}

/** Throws for parameters that cannot be used. */
async function listingOf({ app, request }: DoorRequest, wanted: ListingRequest): Promise<Listing> {
  const { scope, form, locale, head, watermark } = wanted;
  const parameters = queryOf(request);
  const { grammar, log } = app;
  const selected = await parseSearchSelection(parameters, { ...scope, grammar, log });
  const selection = boundedSelection(selected, Math.min(watermark ?? head, head));
  const { room } = scope;
  const prefix = room === undefined ? '{' : `{"room":${JSON.stringify(room(locale))},`;
  const noted = notesPart(request, searchNotes(parameters, selected, wanted));
  const tagParts = [
    app.log.id.slice(0, 8),
    `${head}${readVersion(log)}`,
    ...(watermark === undefined ? [] : [String(watermark)]),
    ...(form === 'json' ? [] : [form]),
    ...(room === undefined ? [] : [app.languageHash, locale ?? 'shown']),
  ];
  const tag = `W/"${tagParts.join('-')}"`;
  return {
    ...wanted,
    parameters,
    selection,
    withReplies: wantsReplies(parameters),
    opening: form === 'json' ? `${prefix}${noted}"entries":[\n` : '',
    tag,
    headers: {
      ETag: tag,
      ...NO_CACHE,
      ...(room === undefined ? vary('Accept') : contentLanguage(locale, 'Accept')),
      ...COMMON_HEADERS,
    },
  };
}

/** Undefined for what is too large to be buffered. */
async function readSmall(read: TextRead): Promise<SmallListing | undefined> {
  const chunks: Uint8Array[] = [];
  for (let size = 0; ;) {
    const step = await read.next();
    if (step.done === true) return { chunks, end: step.value };
    size += step.value.length;
    if (size > MAX_BUFFERED_SIZE) break;
    // Copied, because the log reuses the memory of its chunks.
    chunks.push(Buffer.from(step.value));
  }
  await read.return({ last: undefined, more: false });
  return undefined;
}

function nextPath({ scope, parameters, selection, head }: Listing, end: ReadEnd): string | null {
  return nextPagePath({ path: scope.path, parameters, selection, head }, end);
}

/** The part of the body after the entries. */
function closingOf(log: Log, listed: Listing, { last }: ReadEnd, path: string | null): Buffer {
  const newline = last === undefined ? '' : '\n';
  if (listed.form === 'ndjson') return Buffer.from(newline);
  const next = JSON.stringify(path);
  const { head, watermark } = listed;
  const position = `"head":${head},"log":"${log.id}"`;
  const known = watermark === undefined ? '' : `"known":${watermark},`;
  return Buffer.from(`${newline}],${position},${known}"next":${next}}\n`);
}

/** A longer link, in bytes, is in the body alone: clients refuse long headers. */
const MAX_LINK = 4096;

/** Links to the feeds and the page of the scope and, if it is known before the entries are sent, to the next page. */
function linksOf({ scope }: Listing, next: string | null): Headers {
  const links = listingLinks(scope.path);
  return {
    Link: next === null || next.length > MAX_LINK ? links : `<${next}>; rel="next", ${links}`,
  };
}

async function responseOf(
  log: Log,
  listed: Listing,
  { chunks, end }: SmallListing,
): Promise<CachedResponse> {
  const { head, tag, form } = listed;
  const next = nextPath(listed, end);
  const closing = closingOf(log, listed, end, next);
  const plain = Buffer.concat([Buffer.from(listed.opening), ...chunks, closing]);
  const links = linksOf(listed, next);
  const { encoding, headers } = listed;
  return await cachedResponseOf({ head, tag, type: TYPES[form], plain, encoding, headers, links });
}

async function stream(context: DoorRequest, listed: Listing): Promise<void> {
  const { form } = listed;
  if (isDisconnected(context)) return;
  const encoding = streamEncoding(context.request);
  context.response.writeHead(200, {
    'Content-Type': TYPES[form],
    ...contentEncoding(encoding),
    ...linksOf(listed, null),
    ...listed.headers,
  });
  const { log } = context.app;
  const { selection, signal } = listed;
  const selected = signal === undefined ? selection : { ...selection, signal };
  const texts: ResumableRead = {
    ...selectedTexts(log, selected, SEPARATORS[form], encoding),
    ...(listed.withReplies
      ? { start: () => readTextWithReplies(log, selected, SEPARATORS[form]) }
      : {}),
  };
  const opening = Buffer.from(listed.opening);
  const body = new FramedText(opening, texts, async (end) =>
    closingOf(log, listed, end, nextPath(listed, end)),
  );
  await sendBody(context, encoding, body);
}
