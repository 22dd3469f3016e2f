/** Sends the events of an agents' protocol as an event stream, at the pace of its reader. */
import { yieldPeriodically } from '../fair-turns.ts';
import { isDisconnected } from '../http/context.ts';
import {
  EVENT_STREAM_HEADERS,
  streamChunk,
  type EventStream,
  type StreamChunk,
} from '../http/response/event-stream.ts';
import { vary } from '../http/response/headers.ts';
import { respelled } from '../json/portable-spelling.ts';
import type { DoorRequest } from './context.ts';

/** Writes the frames of an event stream, each without the empty line at its end. */
export interface EventFormat {
  event(value: unknown): string;
  /** Writes the error that ends the stream. */
  error(thrown: unknown): string;
  /** The last frame if the gateway ends the stream when it stops. */
  readonly end?: string;
}

/** Throws what is thrown before the first event: until then, no stream has started. */
export async function streamEvents(
  context: DoorRequest,
  events: AsyncIterable<unknown>,
  format: EventFormat,
): Promise<void> {
  const { app, request, response } = context;
  const iterator = events[Symbol.asyncIterator]();
  try {
    const first = await iterator.next();
    if (isDisconnected(context)) return;
    response.writeHead(200, { ...EVENT_STREAM_HEADERS, ...vary() });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    response.flushHeaders();
    await writeEvents(app.eventStreams.add(response), first, iterator, format);
  } finally {
    await iterator.return?.();
  }
}

async function writeEvents(
  stream: EventStream,
  first: IteratorResult<unknown>,
  rest: AsyncIterator<unknown>,
  format: EventFormat,
): Promise<void> {
  const yieldTurn = yieldPeriodically();
  if (format.end !== undefined) stream.lastChunk = frame(format.end);
  try {
    for (let step = first; step.done !== true; step = await rest.next()) {
      await stream.drained();
      if (stream.isEnded) return;
      stream.write(frame(format.event(step.value)));
      await yieldTurn();
    }
  } catch (error) {
    stream.lastChunk = undefined;
    stream.write(frame(format.error(error)));
  }
  await stream.drained();
  if (!stream.isEnded) stream.end();
}

function frame(text: string): StreamChunk {
  // A cursor, unused here, marks the end of a whole event: comments may follow.
  return streamChunk(respelled(Buffer.from(`${text}\n\n`)), 0);
}
