/**
 * Event streams (PROTOCOL.md section 12): the log as it grows, from any cursor on.
 *
 * Invariant: A stream resumes where it was interrupted, in any client, however the gateway ended.
 * Test: `test/live/event-source.test.ts` “an EventSource hears every entry once and in order while
 *   the gateway dies and rests”
 * Test: `test/live/interrupted-streams.test.ts` “that is cut at any byte is resumed with each entry
 *   once”
 *
 * Invariant: A stalled reader holds a cursor and one chunk, and gets everything when it reads on.
 * Test: `test/live/stalled-readers.test.ts` “readers who stall cost little, hold up nobody, and
 *   miss nothing”
 * Test: `packages/gateway/src/doors/event-stream/events.test.ts` “a reader who stalls does not hold
 *   up others, and gets everything once it reads again”
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { GatewayError, portableJson } from '@open-presence/protocol';

import { nextTurn } from '../../fair-turns.ts';
import { follow, type LogRange } from '../../feed/follow.ts';
import { type Cases, WithholdingNotifier } from '../../feed/withholding-notifier.ts';
import { parameterNotes } from '../../http/parameters/parameter-check.ts';
import { forgetHead } from '../../http/parameters/query.ts';
import { vary } from '../../http/response/headers.ts';
import {
  EVENT_STREAM_HEADERS,
  streamChunk,
  type EventStream,
  type StreamChunk,
} from '../../http/response/event-stream.ts';
import type { Log, Seq } from '../../log/log.ts';
import type { ScopeResolver } from '../../operations/listing-scope.ts';
import type { DoorContext, DoorHandler, DoorRequest } from '../context.ts';
import {
  eventRequest,
  PRESENCE,
  type EventRequest,
  type StreamScope,
  type StreamStart,
  streamStart,
} from './event-request.ts';
import { FanOut, type Framing } from './fan-out.ts';
import type { Visitor } from '../../presence/presence.ts';
import { readerOf } from '../reading.ts';

/** How long a disconnected reader waits before it reconnects. */
const RETRY_MS = 1000;
/** In bytes. Bounds what a stalled reader keeps in memory. */
const MAX_CHUNK_SIZE = 4 * 1024;
/** How long a stream outside a fan-out group reads before others get their turn. */
const TURN_MS = 1;

/** A handler that streams the entries of a scope, each as the framing writes it. */
export function events(resolveScope: ScopeResolver, framing: Framing): DoorHandler {
  return (context) => streamEvents(context, resolveScope(context.app, context.params), framing);
}

async function streamEvents(
  context: DoorRequest,
  scope: StreamScope,
  framing: Framing,
): Promise<void> {
  const { app, request, response } = context;
  const wanted = FanOut.of(app.log).shared(await eventRequest(context, scope, framing));
  response.writeHead(200, { ...EVENT_STREAM_HEADERS, ...vary('Accept') });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  const given = { reader: readerOf(context), notes: parameterNotes(request) };
  forgetHead(request);
  const isEndless = wanted.limit === Number.POSITIVE_INFINITY;
  const stream = app.eventStreams.add(response, isEndless);
  // Not waited for: whoever waited for a stream would hold its request.
  sendStream(app, wanted, stream, given).catch((error: unknown) => {
    if (stream.isEnded) return;
    if (!(error instanceof GatewayError)) app.report.error({ err: error }, 'fault');
    stream.destroy();
  });
}

async function sendStream(
  app: DoorContext,
  wanted: EventRequest,
  stream: EventStream,
  { reader, notes }: { readonly reader: Visitor | undefined; readonly notes: readonly string[] },
): Promise<void> {
  using _present = reader && app.presence.openStream(reader);
  await untilReached(app.log, wanted.cursor, stream);
  const begin = streamStart(wanted.cursor, app.log.head());
  const start = { ...begin, notes: [...notes, ...begin.notes] };
  stream.write(headEvent(app.log, wanted, start));
  using _watching = wanted.presence ? reportPresence(app, wanted, stream) : undefined;
  const reports = wanted.entries && wanted.framing.withoutCases !== true;
  using _reporting = reports ? reportCases(app.log, stream) : undefined;
  if (!wanted.entries && wanted.limit > 0) await untilAborted(stream.ended);
  try {
    if (wanted.limit === Number.POSITIVE_INFINITY)
      await sendAll(app.log, { ...wanted, ...start }, stream);
    else await sendLimited(app.log, { ...wanted, ...start }, stream);
  } catch (error) {
    // The end of the stream ends what is read for it.
    if (!stream.isEnded) throw error;
  }
  await stream.drained();
  if (!stream.isEnded) stream.end();
}

const PLAIN_OPENING: Required<Framing>['opening'] = {
  event: 'head',
  position: (log, after) => ({ head: after, log: log.id, cases: log.withheld() }),
};

/** The first event. A reader who is disconnected before the first entry resumes from its id. */
function headEvent(
  log: Log,
  { framing }: EventRequest,
  { after, notes }: StreamStart,
): StreamChunk {
  const { event, position } = framing.opening ?? PLAIN_OPENING;
  const data = portableJson({
    ...position(log, after),
    ...(notes.length > 0 ? { notes } : {}),
  });
  const frame = `retry: ${RETRY_MS}\nid: ${after}\nevent: ${event}\ndata: ${data}\n\n`;
  return streamChunk(Buffer.from(frame), after);
}

/** Resolves after the log has everything the reader has seen, as far as possible, or the stream has ended. */
async function untilReached(log: Log, cursor: Seq, stream: EventStream): Promise<void> {
  while (cursor > log.head() && !stream.isEnded) {
    try {
      await log.caughtUp();
      return;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'unavailable') throw error;
      await sleep(RETRY_MS, undefined, { signal: stream.ended }).catch(() => {});
    }
  }
}

/** What is sent after the first event. */
type StartedStream = EventRequest & StreamStart;

/** Resolves when the stream has ended. */
async function sendAll(log: Log, wanted: StartedStream, stream: EventStream): Promise<void> {
  const fanOut = FanOut.of(log);
  let left: Promise<Seq> | undefined;
  for (let cursor = wanted.after; !stream.isEnded;) {
    // A stream that left its group first catches up by itself. If it rejoined with too much to share, the group
    // would remove it again.
    left = left === undefined ? fanOut.join(wanted, stream, cursor) : undefined;
    if (left === undefined) {
      // Thousands of streams may leave their group at once.
      await nextTurn();
      const target = fanOut.target(wanted, cursor);
      const range = { ...rangeOf(wanted, cursor, target), signal: stream.ended };
      cursor = (await sendRange(log, range, wanted.framing, stream)) ?? target;
    } else {
      cursor = await left;
    }
    await stream.drained();
  }
}

function rangeOf({ selection }: EventRequest, after: Seq, upTo: Seq): LogRange {
  return { ...selection, order: 'oldest', after, before: upTo + 1 };
}

/**
 * Sends a range until the reader stalls or the turn is over, then returns the cursor to continue from. Undefined
 * at the end.
 */
async function sendRange(
  log: Log,
  range: LogRange,
  framing: Framing,
  stream: EventStream,
): Promise<Seq | undefined> {
  let cursor: Seq | undefined = range.after;
  let begun: Seq | undefined;
  const until = performance.now() + TURN_MS;
  const withheld = log.withheld();
  for await (const chunk of framing.frame(log, range, MAX_CHUNK_SIZE)) {
    // Returns rather than waits here: thousands of waiting streams would each hold a page.
    if (stream.isStalled) {
      if (cursor !== undefined) return cursor;
      await drainedWithin(log, stream, { begun, withheld });
    }
    if (stream.isEnded) return undefined;
    stream.write(chunk);
    cursor = chunk.cursor;
    begun = chunk.begun;
    // After the write: each turn sends something, however busy the thread is.
    if (cursor !== undefined && (performance.now() > until || log.withheld() > withheld))
      return cursor;
  }
  return undefined;
}

/**
 * Resolves when the reader has taken what was written. If an entry that is half sent was withheld meanwhile,
 * ends the stream: the reader drops the event and reconnects.
 */
async function drainedWithin(
  log: Log,
  stream: EventStream,
  { begun, withheld }: { readonly begun: Seq | undefined; readonly withheld: number },
): Promise<void> {
  await stream.drained();
  if (begun === undefined || log.withheld() === withheld) return;
  for await (const { metadata } of log.withholdings({ order: 'oldest', after: withheld }))
    if (metadata.seq === begun) stream.end();
}

/** Sends `limit` entries. */
async function sendLimited(
  log: Log,
  { selection, after, limit, framing }: StartedStream,
  stream: EventStream,
): Promise<void> {
  let sent = 0;
  if (limit === 0) return;
  for await (const range of follow(log, selection, { after, signal: stream.ended })) {
    const reading = { ...range, signal: stream.ended };
    for await (const { metadata } of log.readEntries(reading)) {
      const entry = { ...reading, after: metadata.seq - 1, before: metadata.seq + 1 };
      const start = { begun: metadata.seq, withheld: log.withheld() };
      for await (const chunk of framing.frame(log, entry, MAX_CHUNK_SIZE)) {
        await drainedWithin(log, stream, start);
        if (stream.isEnded) return;
        stream.write(chunk);
      }
      sent += 1;
      if (sent === limit) return;
    }
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Sends an event for each visitor who arrives or leaves; only those in `rooms`, if there are any. */
function reportPresence(
  app: Pick<DoorContext, 'presence'>,
  { rooms }: EventRequest,
  stream: EventStream,
): Disposable {
  return app.presence.watch(({ identity, state, room = null, time }) => {
    if (rooms.length > 0 && (room === null || !rooms.includes(room))) return;
    const timestamp = new Date(time).toISOString();
    const data = portableJson({ identity, state, room, timestamp });
    stream.writeIfIdle(streamChunk(Buffer.from(`event: ${PRESENCE}\ndata: ${data}\n\n`)));
  });
}

/** Tells a stream of all cases (PROTOCOL.md section 12.6), one event for any number, as soon as its reader keeps up. */
function reportCases(log: Log, stream: EventStream): Disposable {
  const untold: Cases[] = [];
  let isWaiting = false;
  const tell = (): void => {
    for (let [one] = untold; one !== undefined && stream.writeIfIdle(eventOf(one)); [one] = untold)
      untold.shift();
    if (untold.length === 0 || isWaiting || !stream.isStalled) return;
    isWaiting = true;
    void stream.drained().then(() => {
      isWaiting = false;
      tell();
    });
  };
  stream.onEventEnd = tell;
  return WithholdingNotifier.of(log).listen({
    onCases(cases) {
      untold.push(...cases);
      tell();
    },
  });
}

function eventOf(cases: Cases): ReturnType<typeof streamChunk> {
  return streamChunk(Buffer.from(`event: cases\ndata: ${JSON.stringify(cases)}\n\n`));
}
