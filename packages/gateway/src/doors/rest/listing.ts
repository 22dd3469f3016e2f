/**
 * Listings (PROTOCOL.md section 8): everything asked for, as one answer.
 *
 * An answer that turns out small is sent whole, with its length and link, and kept ready for the
 * next caller. A longer one is a stream that begins with what was read so far. Upholds that a
 * reading ends with its caller, and that memory is flat however long it is.
 */
import {
  type FeedForm,
  feedLinks,
  type Language,
  type Locale,
  type RoomDocument,
} from '@open-presence/protocol';

import { parseSelection } from '../../intake/selection.ts';
import type { Facet } from '../../log/facet.ts';
import type { ReadEnd, Selection, Seq } from '../../log/log.ts';
import { feed } from '../feeds/feed.ts';
import {
  encodingOf,
  formOf,
  hasTag,
  type Encoding,
  type Form as AnyForm,
} from '../../http/negotiation.ts';
import {
  COMMON,
  encodedAs,
  contentLanguage,
  JSON_TYPE,
  REVALIDATE,
  vary,
  type Headers,
} from '../../http/answers.ts';
import { compressed, WORTH_COMPRESSING } from '../../http/compression.ts';
import { events } from './events.ts';
import { isGone, queryOf, localeFor, type RequestContext } from '../../http/context.ts';
import { searchWatermarkFor } from './search-watermark.ts';
import { nextPagePath } from '../../operations/next-page.ts';
import { ResponseWriter } from '../../http/response-writer.ts';
import { sendCached, type CachedResponse } from '../../http/response-cache.ts';
import { waitForListing } from '../../operations/wait.ts';

/** The forms that have everything, and end. */
type Form = Exclude<AnyForm, 'events' | FeedForm>;

/** What is listed. */
export interface ListingScope {
  readonly path: string;
  readonly facets: readonly Facet[];
  /** Whether it has several kinds. */
  readonly kinds: boolean;
  /** For errors: "the garden". */
  readonly subject: string;
  /** For people. */
  readonly title: (language: Language, locale: Locale | undefined) => string;
  /** The room that it is, which the answer then begins with. */
  readonly room?: (locale: Locale | undefined) => RoomDocument;
}

/** One caller's question. */
interface Question {
  readonly place: ListingScope;
  readonly form: Form;
  readonly encoding: Encoding | undefined;
  readonly locale: Locale | undefined;
  readonly head: Seq;
  /** Up to where words are known, where words are looked for. */
  readonly known: Seq | undefined;
}

/** A question whose parameters were read. */
interface Asked extends Question {
  readonly parameters: URLSearchParams;
  readonly selection: Selection;
  /** What the answer has before and after its entries. */
  readonly opening: Buffer;
  readonly tag: string;
  readonly headers: Headers;
}

type Reading = AsyncGenerator<Uint8Array, ReadEnd, undefined>;

/** What was read until it was clear whether the answer is small. */
interface Begun {
  readonly pieces: readonly Uint8Array[];
  /** Undefined where there is more to read. */
  readonly end: ReadEnd | undefined;
  readonly reading: Reading;
}

/** Answers up to this size are sent whole. */
const SMALL_ANSWER = 256 * 1024;

const TYPES: Readonly<Record<Form, string>> = {
  json: JSON_TYPE,
  ndjson: 'application/x-ndjson; charset=utf-8',
};

const JOINERS = { json: ',\n', ndjson: '\n' } as const;

export function listing(context: RequestContext, place: ListingScope): void | Promise<void> {
  const { url = '', headers } = context.request;
  const form = formOf(headers.accept);
  if (form === 'events') return events(context, place);
  if (form === 'atom' || form === 'json-feed') return feedAt(context, place, form);
  return url.includes('wait=')
    ? waitForListing(context, place).then(() => whole(context, place, form))
    : whole(context, place, form);
}

/** The feed of what is listed there, whatever `Accept` says. */
export function feedAt(
  context: RequestContext,
  place: ListingScope,
  form: FeedForm,
): Promise<void> {
  return context.request.url?.includes('wait=') === true
    ? waitForListing(context, place).then(() => feed(context, place, form))
    : feed(context, place, form);
}

function whole(context: RequestContext, place: ListingScope, form: Form): void | Promise<void> {
  const { app, request } = context;
  const { headers } = request;
  if (isGone(context)) return;
  const locale = place.room === undefined ? undefined : localeFor(request);
  const encoding = encodingOf(headers['accept-encoding']);
  const head = app.log.head();
  const known = searchWatermarkFor(context);
  const key = `${form} ${encoding ?? ''} ${locale ?? ''} ${known ?? ''} ${request.url ?? ''}`;
  const ready = app.responseCache.get(key, head);
  if (ready !== undefined) return sendCached(context, ready);
  return read(context, key, { place, form, encoding, locale, head, known });
}

async function read(context: RequestContext, key: string, question: Question): Promise<void> {
  const { app, request, response } = context;
  const asked = ask(context, question);
  if (hasTag(request.headers['if-none-match'], asked.tag)) {
    response.writeHead(304, asked.headers);
    response.end();
    return;
  }
  const { selection, form } = asked;
  const start = (): Promise<Begun> => begin(app.log.readText(selection, JOINERS[form]));
  let begun: Begun | undefined;
  const ready = await app.responseCache.made(key, asked.head, async () => {
    begun = await start();
    return begun.end === undefined ? undefined : await readyOf(asked, begun.pieces, begun.end);
  });
  if (ready === undefined) {
    // If it was another caller who found out that the answer is long, that reading is not ours.
    await stream(context, asked, begun ?? (await start()));
  } else if (!isGone(context)) {
    sendCached(context, ready);
  }
}

/** Throws for parameters that cannot be used. */
function ask({ app, request }: RequestContext, question: Question): Asked {
  const { place, form, locale, head, known } = question;
  const parameters = queryOf(request);
  const wanted = parseSelection(parameters, { ...place, grammar: app.grammar });
  const end = Math.min(known ?? head, head) + 1;
  const selection = { ...wanted, before: Math.min(wanted.before ?? Infinity, end) };
  const { room } = place;
  const beginning = room === undefined ? '{' : `{"room":${JSON.stringify(room(locale))},`;
  const marks = [
    app.log.id.slice(0, 8),
    String(head),
    ...(known === undefined ? [] : [String(known)]),
    ...(form === 'json' ? [] : [form]),
    ...(room === undefined ? [] : [app.languageHash, locale ?? 'shown']),
  ];
  const tag = `W/"${marks.join('-')}"`;
  return {
    ...question,
    parameters,
    selection,
    opening: Buffer.from(form === 'json' ? `${beginning}"entries":[\n` : ''),
    tag,
    headers: {
      ETag: tag,
      ...REVALIDATE,
      ...(room === undefined ? vary('Accept') : contentLanguage(locale, 'Accept')),
      ...COMMON,
    },
  };
}

async function begin(reading: Reading): Promise<Begun> {
  const pieces: Uint8Array[] = [];
  for (let size = 0; size <= SMALL_ANSWER;) {
    const step = await reading.next();
    if (step.done === true) return { pieces, end: step.value, reading };
    // Kept beyond the next one.
    pieces.push(Buffer.from(step.value));
    size += step.value.length;
  }
  return { pieces, end: undefined, reading };
}

function linkOf({ place, parameters, selection, head }: Asked, end: ReadEnd): string | null {
  return nextPagePath({ path: place.path, parameters, selection, head }, end);
}

/** What comes behind the entries. */
function closing(asked: Asked, end: ReadEnd): Buffer {
  const line = end.last === undefined ? '' : '\n';
  if (asked.form === 'ndjson') return Buffer.from(line);
  const next = JSON.stringify(linkOf(asked, end));
  const known = asked.known === undefined ? '' : `"known":${asked.known},`;
  return Buffer.from(`${line}],"head":${asked.head},${known}"next":${next}}\n`);
}

/** What follows, where that is known, and the feeds of the same. */
function linked({ place }: Asked, next: string | null): Headers {
  const feeds = feedLinks(place.path);
  return { Link: next === null ? feeds : `<${next}>; rel="next", ${feeds}` };
}

async function readyOf(
  asked: Asked,
  pieces: readonly Uint8Array[],
  end: ReadEnd,
): Promise<CachedResponse> {
  const { head, tag, form } = asked;
  const plain = Buffer.concat([asked.opening, ...pieces, closing(asked, end)]);
  const encoding = plain.length < WORTH_COMPRESSING ? undefined : asked.encoding;
  const body = encoding === undefined ? plain : await compressed(encoding, plain);
  const next = linkOf(asked, end);
  const headers = {
    'Content-Type': TYPES[form],
    'Content-Length': String(body.length),
    ...encodedAs(encoding),
    ...linked(asked, next),
    ...asked.headers,
  };
  return { head, tag, headers, body, notModified: asked.headers };
}

async function stream(context: RequestContext, asked: Asked, begun: Begun): Promise<void> {
  const { request, response } = context;
  const { encoding, form } = asked;
  const { reading } = begun;
  try {
    if (isGone(context)) return;
    response.writeHead(200, {
      'Content-Type': TYPES[form],
      ...encodedAs(encoding),
      ...linked(asked, null),
      ...asked.headers,
    });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const writer = new ResponseWriter(response, encoding);
    for (const piece of [asked.opening, ...begun.pieces]) {
      if (!(await writer.write(piece))) return;
    }
    for (let step = await reading.next(); ; step = await reading.next()) {
      const piece = step.done === true ? closing(asked, step.value) : step.value;
      if (!(await writer.write(piece))) return;
      if (step.done === true) break;
    }
    await writer.end();
  } finally {
    await reading.return({ last: undefined, more: false });
  }
}
