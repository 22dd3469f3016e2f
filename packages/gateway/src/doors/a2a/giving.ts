/** How both bindings of A2A read a request, and give one answer or a stream of them. */
import { GatewayError } from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import { sendResponse } from '../../http/response.ts';
import { COMMON_HEADERS, NO_STORE, vary, type Headers } from '../../http/headers.ts';
import { isDisconnected, queryOf } from '../../http/context.ts';
import type { DoorRequest } from '../context.ts';
import { streamChunk } from '../../http/event-stream.ts';

const STREAM_HEADERS: Headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
  ...NO_STORE,
  ...vary(),
  ...COMMON_HEADERS,
};

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text in UTF-8. Throws what a caller can mend where it is none. */
export function parsed(bytes: Buffer, example: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const detail = `Cannot read the request: it is not JSON. Send an object such as ${example}.`;
    throw new GatewayError('malformed-json', detail);
  }
}

/**
 * The version that is asked for, in a header or a parameter; undefined where there is no word of
 * it. A patch version says nothing more (section 3.6 of the specification).
 */
export function versionOf({ request }: DoorRequest): string | undefined {
  const header = request.headers['a2a-version'];
  const said = typeof header === 'string' ? header : queryOf(request).get('A2A-Version');
  const version = said?.trim() ?? '';
  return version === '' ? undefined : version.replace(/^(\d+\.\d+)\.\d+$/, '$1');
}

interface Giving {
  readonly status: number;
  readonly more: Headers;
}

export async function give(
  context: DoorRequest,
  text: string,
  type: string,
  { status, more }: Giving = { status: 200, more: {} },
): Promise<void> {
  if (isDisconnected(context)) return;
  const headers = { ...NO_STORE, ...vary(), ...more };
  await sendResponse(context, { status, type, headers, body: Buffer.from(text) });
}

/** How the events of a stream are printed, each as a frame. */
export interface Framing {
  event(value: unknown): string;
  /** For what ends the stream. */
  error(thrown: unknown): string;
  /** Called when there is a stream. */
  begun(): void;
}

/** The first event tells whether there is a stream: until then an error is thrown, as by others. */
export async function stream(
  context: DoorRequest,
  events: AsyncIterable<unknown>,
  framing: Framing,
): Promise<void> {
  const { app, request, response } = context;
  const reading = events[Symbol.asyncIterator]();
  try {
    let step = await reading.next();
    framing.begun();
    if (isDisconnected(context)) return;
    response.writeHead(200, STREAM_HEADERS);
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    response.flushHeaders();
    const out = app.eventStreams.add(response);
    const fair = yieldPeriodically();
    try {
      for (; step.done !== true; step = await reading.next()) {
        await out.drained();
        if (out.ended.aborted) return;
        out.write(framed(framing.event(step.value)));
        await fair();
      }
    } catch (error) {
      out.write(framed(framing.error(error)));
    }
    await out.drained();
    if (!out.ended.aborted) out.end();
  } finally {
    await reading.return?.();
  }
}

export function isStream(events: object): events is AsyncIterable<unknown> {
  return Symbol.asyncIterator in events;
}

function framed(text: string): ReturnType<typeof streamChunk> {
  // It ends with a whole event, so that a comment may follow.
  return streamChunk(Buffer.from(`${text}\n\n`), 0);
}
