/**
 * Event streams (PROTOCOL.md section 12): the log as it grows, from any cursor on.
 *
 * Upholds that a stream has each entry of its selection once, in order, and that one whose reader
 * stalls holds a cursor and a chunk, nothing more.
 */
import { once } from 'node:events';

import { nextTurn } from '../../fair-turns.ts';
import { follow, type LogRange } from '../../feed/follow.ts';
import { COMMON_HEADERS, NO_STORE, vary } from '../../http/headers.ts';
import { streamChunk, type EventStream, type StreamChunk } from '../../http/event-stream.ts';
import type { Log, Seq } from '../../log/log.ts';
import type { ScopeResolver } from '../../operations/listing-scope.ts';
import type { DoorContext, DoorHandler, DoorRequest } from '../context.ts';
import { frameEntries } from './entry-frames.ts';
import { eventRequest, PRESENCE, type EventRequest, type StreamScope } from './event-request.ts';
import { FanOut } from './fan-out.ts';
import { readerOf } from './presence.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Keeps proxies from buffering the stream.
  'X-Accel-Buffering': 'no',
  ...NO_STORE,
  ...vary('Accept'),
  ...COMMON_HEADERS,
};

/** How long a reader that was cut off waits before it reconnects, in ms. */
const RETRY_MS = 1000;
/** Bytes of a chunk at most: what a stalled reader keeps in memory by itself. */
const CHUNK = 4 * 1024;
/** How long a stream reads by itself before others have their turn. */
const TURN_MS = 1;

const ALL_EVENTS: StreamScope = { facets: [], kinds: true, subject: 'the events' };

export const allEvents: DoorHandler = (context) => streamEvents(context, ALL_EVENTS);

/** The handler that streams what is stored in a scope. */
export function events(scopeOf: ScopeResolver): DoorHandler {
  return (context) => streamEvents(context, scopeOf(context.app, context.params));
}

async function streamEvents(context: DoorRequest, scope: StreamScope): Promise<void> {
  const { app, request, response } = context;
  const wanted = eventRequest(context, scope);
  response.writeHead(200, HEADERS);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  const stream = app.eventStreams.add(response);
  stream.write(headEvent(wanted.after));
  const reader = readerOf(context);
  using _present = reader && app.presence.openStream(reader);
  using _watching = wanted.presence ? reportPresence(app, wanted, stream) : undefined;
  if (!wanted.entries) await aborted(stream.ended);
  if (wanted.limit === Number.POSITIVE_INFINITY) await sendAll(app.log, wanted, stream);
  else await sendLimited(app.log, wanted, stream);
  await stream.drained();
  if (!stream.ended.aborted) stream.end();
}

/** Tells a reader who is cut off before the first entry where to resume. */
function headEvent(after: Seq): StreamChunk {
  const frame = `retry: ${RETRY_MS}\nid: ${after}\nevent: head\ndata: {"head":${after}}\n\n`;
  return streamChunk(Buffer.from(frame), after);
}

/** Resolves when the stream has ended. */
async function sendAll(log: Log, wanted: EventRequest, stream: EventStream): Promise<void> {
  const fanOut = FanOut.of(log);
  let left: Promise<Seq> | undefined;
  for (let cursor = wanted.after; !stream.ended.aborted;) {
    // One that left its group reads on alone first: the group would drop it again at once where
    // what it lacks is too long to be shared.
    left = left === undefined ? fanOut.join(wanted, stream, cursor) : undefined;
    if (left === undefined) {
      // Thousands may have stalled together, and others wait.
      await nextTurn();
      const target = fanOut.target(wanted, cursor);
      const range = rangeOf(wanted, cursor, target);
      cursor = (await sendRange(log, { range, kinds: wanted.kinds }, stream)) ?? target;
    } else {
      cursor = await left;
    }
    await stream.drained();
  }
}

function rangeOf({ selection }: EventRequest, after: Seq, upTo: Seq): LogRange {
  return { ...selection, order: 'oldest', after, before: upTo + 1 };
}

interface StreamRange {
  readonly range: LogRange;
  readonly kinds: EventRequest['kinds'];
}

/**
 * Sends a range until the reader stalls or others must have their turn: then returns the cursor to
 * read on from, else undefined.
 */
async function sendRange(
  log: Log,
  { range, kinds }: StreamRange,
  stream: EventStream,
): Promise<Seq | undefined> {
  let cursor: Seq | undefined = range.after;
  const until = performance.now() + TURN_MS;
  for await (const chunk of frameEntries(log, range, { kinds, size: CHUNK })) {
    // Waiting here, thousands of streams would each hold a page.
    if (cursor !== undefined && performance.now() > until) return cursor;
    if (stream.isStalled) {
      if (cursor !== undefined) return cursor;
      await stream.drained();
    }
    if (stream.ended.aborted) return undefined;
    stream.write(chunk);
    cursor = chunk.cursor;
  }
  return undefined;
}

/** Sends as many entries as `limit` says. */
async function sendLimited(
  log: Log,
  { selection, kinds, after, limit }: EventRequest,
  stream: EventStream,
): Promise<void> {
  let sent = 0;
  if (limit === 0) return;
  for await (const range of follow(log, selection, { after, signal: stream.ended })) {
    for await (const { stamp } of log.readEntries(range)) {
      if (kinds?.has(stamp.kind) === false) continue;
      const entry = { ...range, after: stamp.seq - 1, before: stamp.seq + 1 };
      for await (const chunk of frameEntries(log, entry, { kinds: undefined, size: CHUNK })) {
        await stream.drained();
        stream.write(chunk);
      }
      sent += 1;
      if (sent === limit) return;
    }
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Sends an event for each visitor who comes or goes, in the room that is read if there is one. */
function reportPresence(
  app: Pick<DoorContext, 'presence'>,
  wanted: EventRequest,
  stream: EventStream,
): Disposable {
  return app.presence.watch(({ identity, state, room = null, time }) => {
    if (wanted.room !== undefined && room !== wanted.room) return;
    const timestamp = new Date(time).toISOString();
    const data = JSON.stringify({ identity, state, room, timestamp });
    stream.writeIfIdle(streamChunk(Buffer.from(`event: ${PRESENCE}\ndata: ${data}\n\n`)));
  });
}
