/**
 * Listings as JSON or lines (PROTOCOL.md section 8): everything asked for, as one answer.
 *
 * A small answer is sent whole, with its length and link, and cached for the next caller. A longer
 * one is streamed. Upholds that a reading ends with its caller, and that memory is flat however
 * long it is.
 */
import { feedLinks, type Locale } from '@open-presence/protocol';

import {
  COMMON_HEADERS,
  contentLanguage,
  contentEncoding,
  JSON_TYPE,
  NO_CACHE,
  vary,
  type Headers,
} from '../../http/headers.ts';
import { compress, MIN_COMPRESSED_SIZE } from '../../http/compression.ts';
import { abortOnDisconnect, isDisconnected, localeFor, queryOf } from '../../http/context.ts';
import { preferredEncoding, matchesEtag, type Encoding } from '../../http/negotiation.ts';
import { sendCached, type CachedResponse } from '../../http/response-cache.ts';
import { ResponseWriter } from '../../http/response-writer.ts';
import { parseSelection } from '../../intake/selection.ts';
import type { ReadEnd, Selection, Seq } from '../../log/log.ts';
import type { ListingScope, ScopeResolver } from '../../operations/listing-scope.ts';
import { nextPagePath } from '../../operations/next-page.ts';
import { searchWatermarkFor } from '../../operations/search-watermark.ts';
import { waitForListing } from '../../operations/wait.ts';
import type { DoorHandler, DoorRequest } from '../context.ts';

type Form = 'json' | 'ndjson';

/** What decides which cached response answers a request. */
interface ListingRequest {
  readonly scope: ListingScope;
  readonly form: Form;
  readonly encoding: Encoding | undefined;
  readonly locale: Locale | undefined;
  readonly head: Seq;
  /** The seq up to which words are indexed, where the request searches. */
  readonly watermark: Seq | undefined;
}

/** A request whose parameters were read. */
interface Listing extends ListingRequest {
  readonly parameters: URLSearchParams;
  readonly selection: Selection;
  /** What the answer has before its entries. */
  readonly opening: Buffer;
  readonly tag: string;
  readonly headers: Headers;
}

type Reading = AsyncGenerator<Uint8Array, ReadEnd, undefined>;

/** What was read until it was clear whether the answer is small. */
interface Start {
  readonly pieces: readonly Uint8Array[];
  /** Undefined where there is more to read. */
  readonly end: ReadEnd | undefined;
  readonly reading: Reading;
}

/** Answers up to this size, in bytes, are sent whole. */
const SMALL_ANSWER = 256 * 1024;

const TYPES: Readonly<Record<Form, string>> = {
  json: JSON_TYPE,
  ndjson: 'application/x-ndjson; charset=utf-8',
};

const JOINERS = { json: ',\n', ndjson: '\n' } as const;

/** The handler that lists a scope in one form. */
export function listing(scopeOf: ScopeResolver, form: Form): DoorHandler {
  return (context) => {
    const { app, request, params } = context;
    const scope = scopeOf(app, params);
    return request.url?.includes('wait=') === true
      ? waitThenList(context, scope, form)
      : list(context, scope, form);
  };
}

async function waitThenList(context: DoorRequest, scope: ListingScope, form: Form): Promise<void> {
  {
    using caller = abortOnDisconnect(context);
    await waitForListing(context.app, scope, queryOf(context.request), caller.signal);
  }
  await list(context, scope, form);
}

function list(context: DoorRequest, scope: ListingScope, form: Form): void | Promise<void> {
  const { app, request } = context;
  const { headers, url = '' } = request;
  if (isDisconnected(context)) return;
  const locale = scope.room === undefined ? undefined : localeFor(request);
  const encoding = preferredEncoding(headers['accept-encoding']);
  const head = app.log.head();
  const watermark = searchWatermarkFor(app.log, url);
  const key = `${form} ${encoding ?? ''} ${locale ?? ''} ${watermark ?? ''} ${url}`;
  const cached = app.responseCache.get(key, head);
  if (cached !== undefined) return sendCached(context, cached);
  return answerFromLog(context, key, { scope, form, encoding, locale, head, watermark });
}

async function answerFromLog(
  context: DoorRequest,
  key: string,
  wanted: ListingRequest,
): Promise<void> {
  const { app, request, response } = context;
  const listed = listingOf(context, wanted);
  if (matchesEtag(request.headers['if-none-match'], listed.tag)) {
    response.writeHead(304, listed.headers);
    response.end();
    return;
  }
  const { selection, form } = listed;
  const start = (): Promise<Start> => readStart(app.log.readText(selection, JOINERS[form]));
  let started: Start | undefined;
  const ready = await app.responseCache.create(key, listed.head, async () => {
    started = await start();
    return started.end === undefined
      ? undefined
      : await cachedResponseOf(listed, started.pieces, started.end);
  });
  if (ready === undefined) {
    // The reading that found the answer long may be that of another caller.
    await stream(context, listed, started ?? (await start()));
  } else if (!isDisconnected(context)) {
    sendCached(context, ready);
  }
}

/** Throws for parameters that cannot be used. */
function listingOf({ app, request }: DoorRequest, wanted: ListingRequest): Listing {
  const { scope, form, locale, head, watermark } = wanted;
  const parameters = queryOf(request);
  const selected = parseSelection(parameters, { ...scope, grammar: app.grammar });
  const end = Math.min(watermark ?? head, head) + 1;
  const selection = { ...selected, before: Math.min(selected.before ?? Infinity, end) };
  const { room } = scope;
  const prefix = room === undefined ? '{' : `{"room":${JSON.stringify(room(locale))},`;
  const tagParts = [
    app.log.id.slice(0, 8),
    String(head),
    ...(watermark === undefined ? [] : [String(watermark)]),
    ...(form === 'json' ? [] : [form]),
    ...(room === undefined ? [] : [app.languageHash, locale ?? 'shown']),
  ];
  const tag = `W/"${tagParts.join('-')}"`;
  return {
    ...wanted,
    parameters,
    selection,
    opening: Buffer.from(form === 'json' ? `${prefix}"entries":[\n` : ''),
    tag,
    headers: {
      ETag: tag,
      ...NO_CACHE,
      ...(room === undefined ? vary('Accept') : contentLanguage(locale, 'Accept')),
      ...COMMON_HEADERS,
    },
  };
}

async function readStart(reading: Reading): Promise<Start> {
  const pieces: Uint8Array[] = [];
  for (let size = 0; size <= SMALL_ANSWER;) {
    const step = await reading.next();
    if (step.done === true) return { pieces, end: step.value, reading };
    // Copied: the reading reuses its buffers.
    pieces.push(Buffer.from(step.value));
    size += step.value.length;
  }
  return { pieces, end: undefined, reading };
}

function nextPath({ scope, parameters, selection, head }: Listing, end: ReadEnd): string | null {
  return nextPagePath({ path: scope.path, parameters, selection, head }, end);
}

/** What the answer has behind its entries. */
function closingOf(listed: Listing, end: ReadEnd): Buffer {
  const line = end.last === undefined ? '' : '\n';
  if (listed.form === 'ndjson') return Buffer.from(line);
  const next = JSON.stringify(nextPath(listed, end));
  const watermark = listed.watermark === undefined ? '' : `"known":${listed.watermark},`;
  return Buffer.from(`${line}],"head":${listed.head},${watermark}"next":${next}}\n`);
}

/** The next page, where that is known already, and the feeds of the same scope. */
function linksOf({ scope }: Listing, next: string | null): Headers {
  const feeds = feedLinks(scope.path);
  return { Link: next === null ? feeds : `<${next}>; rel="next", ${feeds}` };
}

async function cachedResponseOf(
  listed: Listing,
  pieces: readonly Uint8Array[],
  end: ReadEnd,
): Promise<CachedResponse> {
  const { head, tag, form } = listed;
  const plain = Buffer.concat([listed.opening, ...pieces, closingOf(listed, end)]);
  const encoding = plain.length < MIN_COMPRESSED_SIZE ? undefined : listed.encoding;
  const body = encoding === undefined ? plain : await compress(encoding, plain);
  const next = nextPath(listed, end);
  const headers = {
    'Content-Type': TYPES[form],
    'Content-Length': String(body.length),
    ...contentEncoding(encoding),
    ...linksOf(listed, next),
    ...listed.headers,
  };
  return { head, tag, headers, body, notModifiedHeaders: listed.headers };
}

async function stream(context: DoorRequest, listed: Listing, started: Start): Promise<void> {
  const { request, response } = context;
  const { encoding, form } = listed;
  const { reading } = started;
  try {
    if (isDisconnected(context)) return;
    response.writeHead(200, {
      'Content-Type': TYPES[form],
      ...contentEncoding(encoding),
      ...linksOf(listed, null),
      ...listed.headers,
    });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const writer = new ResponseWriter(response, encoding);
    for (const piece of [listed.opening, ...started.pieces]) {
      if (!(await writer.write(piece))) return;
    }
    for (let step = await reading.next(); ; step = await reading.next()) {
      const piece = step.done === true ? closingOf(listed, step.value) : step.value;
      if (!(await writer.write(piece))) return;
      if (step.done === true) break;
    }
    await writer.end();
  } finally {
    await reading.return({ last: undefined, more: false });
  }
}
