/**
 * Event streams (PROTOCOL.md section 12): the log as it grows, from any cursor on.
 *
 * Upholds that a stream has each entry of its selection once, in order, and that one whose reader
 * stalls holds a cursor and a slice, nothing more.
 */
import { once } from 'node:events';

import { GatewayError, isKind, KINDS, localize } from '@open-presence/protocol';

import { follow, type LogRange } from '../../feed/follow.ts';
import { parseCursor, rejectTextQuery, parseSelection } from '../../intake/selection.ts';
import { facet } from '../../log/facet.ts';
import type { Seq } from '../../log/log.ts';
import { nextTurn } from '../../fair-turns.ts';
import { COMMON, NOT_KEPT, vary } from '../../http/answers.ts';
import { queryOf, type RequestContext } from '../../http/context.ts';
import type { EventStream } from '../../http/event-stream.ts';
import { frameEntries, streamChunk } from './entry-frames.ts';
import type { StreamQuery } from './fan-out.ts';
import type { ListingScope } from './listing.ts';
import { readerOf } from './presence.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Else some proxies would gather what should arrive at once.
  'X-Accel-Buffering': 'no',
  ...NOT_KEPT,
  ...vary('Accept'),
  ...COMMON,
};

/** How long a reader that was cut off waits before it comes back, in ms. */
const RETRY_MS = 1000;
const PRESENCE = 'presence';
const WAIT_INSTEAD =
  'an event stream has entries as they are said, before their words are known. Ask a listing or /api/search with "q", "after" and "wait" instead, such as /api/garden?q=mint&after=42&wait=30';
/** Bytes of a slice at most: what a reader who stalls keeps in memory by itself. */
const SLICE = 4 * 1024;
/** How long a stream reads by itself before others have their turn. */
const TURN_MS = 1;

const EVERYTHING: ListingScope = {
  path: '/api/events',
  facets: [],
  kinds: true,
  subject: 'the events',
  title: ({ labels }, locale) => localize(labels.everything, locale),
};

/** What a stream is asked for. */
interface Asked extends StreamQuery {
  readonly entries: boolean;
  readonly presence: boolean;
  readonly after: Seq;
  readonly limit: number;
  /** The room that is read, where it is one. */
  readonly room: string | undefined;
}

export function allEvents(context: RequestContext): Promise<void> {
  return events(context, EVERYTHING);
}

export async function events(context: RequestContext, place: ListingScope): Promise<void> {
  const { app, request, response } = context;
  const asked = ask(context, place);
  response.writeHead(200, HEADERS);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  const stream = app.eventStreams.add(response);
  stream.write(opening(asked.after));
  const reader = readerOf(context);
  using _here = reader && app.presence.openStream(reader);
  using _others = asked.presence ? tellOfOthers(context, asked, stream) : undefined;
  await run(context, asked, stream);
  await stream.drained();
  if (!stream.ended.aborted) stream.end();
}

/** So that a reader who is cut off before the first entry knows where to go on. */
function opening(after: Seq): ReturnType<typeof streamChunk> {
  const frame = `retry: ${RETRY_MS}\nid: ${after}\nevent: head\ndata: {"head":${after}}\n\n`;
  return streamChunk(Buffer.from(frame), after);
}

/** Throws for parameters and headers that cannot be used. */
function ask({ app, request, params }: RequestContext, place: ListingScope): Asked {
  const parameters = queryOf(request);
  rejectTextQuery(parameters, place.subject, WAIT_INSTEAD);
  const said = parameters.getAll('kind');
  const kinds = new Set(place.kinds ? said.filter((kind) => kind !== PRESENCE) : []);
  for (const kind of kinds) if (!isKind(kind)) throw unknownKind(place, kind);
  parameters.delete('kind');
  const { facets, since, after, limit } = parseSelection(parameters, {
    ...place,
    grammar: app.grammar,
  });
  const [only] = kinds;
  const selected =
    only !== undefined && kinds.size === 1 ? [...facets, facet('kind', only)] : facets;
  const lastEventId = request.headers['last-event-id'];
  const from = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined;
  const several = kinds.size > 1 ? kinds : undefined;
  return {
    key: JSON.stringify([
      selected.map((one) => Buffer.from(one).toString('latin1')),
      since,
      [...(several ?? [])],
    ]),
    selection: { facets: selected, ...(since === undefined ? {} : { since }) },
    kinds: several,
    entries: !place.kinds || kinds.size > 0 || said.length === 0,
    presence: said.includes(PRESENCE),
    after:
      from === undefined
        ? (after ?? (since === undefined ? app.log.head() : 0))
        : parseCursor(from, place.subject),
    limit: limit ?? Number.POSITIVE_INFINITY,
    room: params['slug'] ?? parameters.get('room') ?? undefined,
  };
}

function unknownKind({ subject }: ListingScope, kind: string): GatewayError {
  const known = [...KINDS, PRESENCE];
  const detail = `"kind" must be one of ${known.join(', ')}, got ${JSON.stringify(kind.slice(0, 60))}`;
  const faults = [{ parameter: 'kind', detail }];
  return new GatewayError('unknown-kind', `Cannot read ${subject}: ${detail}`, { faults, known });
}

/** Resolves when the stream has ended, or has all that it was asked for. */
async function run(context: RequestContext, asked: Asked, stream: EventStream): Promise<void> {
  const { fanOut } = context.app;
  if (!asked.entries) await aborted(stream.ended);
  if (asked.limit !== Number.POSITIVE_INFINITY) return await giveFew(context, asked, stream);
  let left: Promise<Seq> | undefined;
  for (let cursor = asked.after; !stream.ended.aborted;) {
    // Who has left reads on alone first: it would leave again, without what is too long to share.
    left = left === undefined ? fanOut.join(asked, stream, cursor) : undefined;
    if (left === undefined) {
      // Thousands may have stalled together, and others wait.
      await nextTurn();
      const target = fanOut.target(asked, cursor);
      const news = {
        ...asked.selection,
        order: 'oldest',
        after: cursor,
        before: target + 1,
      } as const;
      cursor = (await give(context, asked, { news, stream })) ?? target;
    } else {
      cursor = await left;
    }
    await stream.drained();
  }
}

interface Giving {
  readonly news: LogRange;
  readonly stream: EventStream;
}

/**
 * Gives news until the reader stalls or others must have their turn: then the cursor to read on
 * from, undefined if that was all.
 */
async function give(
  { app }: RequestContext,
  { kinds }: Asked,
  { news, stream }: Giving,
): Promise<Seq | undefined> {
  let cursor: Seq | undefined = news.after;
  const until = performance.now() + TURN_MS;
  for await (const slice of frameEntries(app.log, news, { kinds, size: SLICE })) {
    // Waiting here, thousands of streams would each hold a page.
    if (cursor !== undefined && performance.now() > until) return cursor;
    if (stream.stalls) {
      if (cursor !== undefined) return cursor;
      await stream.drained();
    }
    if (stream.ended.aborted) return undefined;
    stream.write(slice);
    cursor = slice.upTo;
  }
  return undefined;
}

/** Gives as many entries as were asked for. */
async function giveFew(
  { app: { log } }: RequestContext,
  { selection, kinds, after, limit }: Asked,
  stream: EventStream,
): Promise<void> {
  let given = 0;
  if (limit === 0) return;
  for await (const news of follow(log, selection, { after, signal: stream.ended })) {
    for await (const { stamp } of log.readEntries(news)) {
      if (kinds?.has(stamp.kind) === false) continue;
      const one = { ...news, after: stamp.seq - 1, before: stamp.seq + 1 };
      for await (const slice of frameEntries(log, one, { kinds: undefined, size: SLICE })) {
        await stream.drained();
        stream.write(slice);
      }
      given += 1;
      if (given === limit) return;
    }
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Says who comes and goes, to those who asked for it. */
function tellOfOthers({ app }: RequestContext, asked: Asked, stream: EventStream): Disposable {
  return app.presence.watch(({ identity, state, room = null, time }) => {
    if (asked.room !== undefined && room !== asked.room) return;
    const timestamp = new Date(time).toISOString();
    const data = JSON.stringify({ identity, state, room, timestamp });
    stream.tell(streamChunk(Buffer.from(`event: ${PRESENCE}\ndata: ${data}\n\n`)));
  });
}
