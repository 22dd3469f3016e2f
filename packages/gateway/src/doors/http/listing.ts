/**
 * Listings (PROTOCOL.md section 8): everything asked for, as one answer.
 *
 * An answer that turns out small is sent whole, with its length and link, and kept ready for the
 * next caller. A longer one is a stream that begins with what was read so far. Upholds that a
 * reading ends with its caller, and that memory is flat however long it is.
 */
import type { Language, RoomDocument, Tongue } from '@open-presence/protocol';

import { selectionOf } from '../../intake/selection.ts';
import type { Facet } from '../../log/facet.ts';
import type { ReadEnd, Selection, Seq } from '../../log/log.ts';
import { feedLinks, type FeedForm } from '../feeds/addresses.ts';
import { feed } from '../feeds/feed.ts';
import { encodingOf, formOf, hasTag, type Encoding, type Form as AnyForm } from './accept.ts';
import {
  COMMON,
  encodedAs,
  inTongue,
  JSON_TYPE,
  REVALIDATE,
  vary,
  type Headers,
} from './answer.ts';
import { compressed, WORTH_COMPRESSING } from './compress.ts';
import { events } from './events.ts';
import { isGone, queryOf, tongueFor, type Exchange } from './exchange.ts';
import { knownFor } from './known.ts';
import { nextOf } from './next.ts';
import { Outlet } from './outlet.ts';
import { give, type Ready } from './ready.ts';
import { newsFor } from './wait.ts';

/** The forms that have everything, and end. */
type Form = Exclude<AnyForm, 'events' | FeedForm>;

/** What is listed. */
export interface Place {
  readonly path: string;
  readonly facets: readonly Facet[];
  /** Whether it has several kinds. */
  readonly kinds: boolean;
  /** For errors: "the garden". */
  readonly subject: string;
  /** For people. */
  readonly title: (language: Language, tongue: Tongue | undefined) => string;
  /** The room that it is, which the answer then begins with. */
  readonly room?: (tongue: Tongue | undefined) => RoomDocument;
}

/** One caller's question. */
interface Question {
  readonly place: Place;
  readonly form: Form;
  readonly encoding: Encoding | undefined;
  readonly tongue: Tongue | undefined;
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

export function listing(exchange: Exchange, place: Place): void | Promise<void> {
  const { url = '', headers } = exchange.request;
  const form = formOf(headers.accept);
  if (form === 'events') return events(exchange, place);
  if (form === 'atom' || form === 'json-feed') return feedAt(exchange, place, form);
  return url.includes('wait=')
    ? newsFor(exchange, place).then(() => whole(exchange, place, form))
    : whole(exchange, place, form);
}

/** The feed of what is listed there, whatever `Accept` says. */
export function feedAt(exchange: Exchange, place: Place, form: FeedForm): Promise<void> {
  return exchange.request.url?.includes('wait=') === true
    ? newsFor(exchange, place).then(() => feed(exchange, place, form))
    : feed(exchange, place, form);
}

function whole(exchange: Exchange, place: Place, form: Form): void | Promise<void> {
  const { house, request } = exchange;
  const { headers } = request;
  if (isGone(exchange)) return;
  const tongue = place.room === undefined ? undefined : tongueFor(request);
  const encoding = encodingOf(headers['accept-encoding']);
  const head = house.log.head();
  const known = knownFor(exchange);
  const key = `${form} ${encoding ?? ''} ${tongue ?? ''} ${known ?? ''} ${request.url ?? ''}`;
  const ready = house.ready.get(key, head);
  if (ready !== undefined) return give(exchange, ready);
  return read(exchange, key, { place, form, encoding, tongue, head, known });
}

async function read(exchange: Exchange, key: string, question: Question): Promise<void> {
  const { house, request, response } = exchange;
  const asked = ask(exchange, question);
  if (hasTag(request.headers['if-none-match'], asked.tag)) {
    response.writeHead(304, asked.headers);
    response.end();
    return;
  }
  const { selection, form } = asked;
  const start = (): Promise<Begun> => begin(house.log.read(selection, JOINERS[form]));
  let begun: Begun | undefined;
  const ready = await house.ready.made(key, asked.head, async () => {
    begun = await start();
    return begun.end === undefined ? undefined : await readyOf(asked, begun.pieces, begun.end);
  });
  if (ready === undefined) {
    // If it was another caller who found out that the answer is long, that reading is not ours.
    await stream(exchange, asked, begun ?? (await start()));
  } else if (!isGone(exchange)) {
    give(exchange, ready);
  }
}

/** Throws for parameters that cannot be used. */
function ask({ house, request }: Exchange, question: Question): Asked {
  const { place, form, tongue, head, known } = question;
  const parameters = queryOf(request);
  const wanted = selectionOf(parameters, { ...place, grammar: house.grammar });
  const end = Math.min(known ?? head, head) + 1;
  const selection = { ...wanted, before: Math.min(wanted.before ?? Infinity, end) };
  const { room } = place;
  const beginning = room === undefined ? '{' : `{"room":${JSON.stringify(room(tongue))},`;
  const marks = [
    house.log.name.slice(0, 8),
    String(head),
    ...(known === undefined ? [] : [String(known)]),
    ...(form === 'json' ? [] : [form]),
    ...(room === undefined ? [] : [house.edition, tongue ?? 'shown']),
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
      ...(room === undefined ? vary('Accept') : inTongue(tongue, 'Accept')),
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
  return nextOf({ path: place.path, parameters, selection, head }, end);
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

async function readyOf(asked: Asked, pieces: readonly Uint8Array[], end: ReadEnd): Promise<Ready> {
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

async function stream(exchange: Exchange, asked: Asked, begun: Begun): Promise<void> {
  const { request, response } = exchange;
  const { encoding, form } = asked;
  const { reading } = begun;
  try {
    if (isGone(exchange)) return;
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
    const outlet = new Outlet(response, encoding);
    for (const piece of [asked.opening, ...begun.pieces]) {
      if (!(await outlet.write(piece))) return;
    }
    for (let step = await reading.next(); ; step = await reading.next()) {
      const piece = step.done === true ? closing(asked, step.value) : step.value;
      if (!(await outlet.write(piece))) return;
      if (step.done === true) break;
    }
    await outlet.end();
  } finally {
    await reading.return({ last: undefined, more: false });
  }
}
