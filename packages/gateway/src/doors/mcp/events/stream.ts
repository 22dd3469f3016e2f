/**
 * `events/stream`: events as they happen, as notifications (PROTOCOL.md section 18.10). Goes past the SDK, whose
 * streams would hold in memory what a reader does not take.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

import { follow } from '../../../feed/follow.ts';
import { abortOnDisconnect } from '../../../http/context.ts';
import { jsonBody, sendResponse } from '../../../http/response/response.ts';
import { JSON_TYPE, NO_STORE } from '../../../http/response/headers.ts';
import { toJsonObject } from '../../../json/json-object.ts';
import type { Seq } from '../../../log/log.ts';
import { NearNames } from '../../../near-names.ts';
import { localizationFor, type DoorRequest } from '../../context.ts';
import { streamEvents } from '../../stream-events.ts';
import { asGatewayError } from '../tools/results.ts';
import type { McpRequest } from '../tools/tool-call.ts';
import { occurrence } from './event-types.ts';
import { PARAMS, subscriptionOf, type Subscription } from './subscription.ts';

/** Before other streams send a comment, which has no cursor. */
const HEARTBEAT_MS = 10_000;
const STREAM_PARAMS = new NearNames(PARAMS);
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
/** The result of a stream that the gateway ends. */
const ENDED = { resultType: 'complete', _meta: {} };

/** Whether the message is a request: nobody waits for the answer to one without an id. */
export function isEventStream(message: unknown): boolean {
  const { id, method } = toJsonObject(message);
  return method === 'events/stream' && (typeof id === 'string' || typeof id === 'number');
}

/** Until the caller leaves or the gateway stops. */
export async function streamNotifications({ context, message }: McpRequest): Promise<void> {
  const { id, params } = toJsonObject(message);
  const { app } = context;
  try {
    using caller = abortOnDisconnect(context);
    const subscription = await subscriptionOf(app, toJsonObject(params), STREAM_PARAMS);
    const events = notificationsOf(context, subscription, id, caller.signal);
    const format = {
      event: (text: unknown) => `data: ${String(text)}`,
      error: errorFrame(app, id),
      end: `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: ENDED })}`,
    };
    await streamEvents(context, events, format);
  } catch (error) {
    const body = jsonBody({ jsonrpc: '2.0', id, error: errorOf(app, error) });
    await sendResponse(context, { status: 200, type: JSON_TYPE, headers: NO_STORE, body });
  }
}

/** The JSON texts of notifications. A client goes on elsewhere from the last cursor. */
async function* notificationsOf(
  context: DoorRequest,
  subscription: Subscription,
  id: unknown,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { log } = context.app;
  const localization = localizationFor(context);
  const meta = `"_meta":${JSON.stringify({ [SUBSCRIPTION_ID]: id })}`;
  const notification = (what: string, params: string): string =>
    `{"jsonrpc":"2.0","method":"notifications/events/${what}","params":${params.slice(0, -1)},${meta}}}`;
  const at = (cursor: Seq): string => `{"cursor":"${cursor}","truncated":false}`;
  let cursor = subscription.after;
  yield notification('active', at(cursor));
  while (!signal.aborted) {
    const following = AbortSignal.any([signal, AbortSignal.timeout(HEARTBEAT_MS)]);
    const { selection } = subscription;
    for await (const range of follow(log, selection, { after: cursor, signal: following })) {
      for await (const entry of log.readEntries({ ...range, signal })) {
        if (await subscription.isLeftOut(entry)) continue;
        yield notification('event', occurrence(localization, subscription.name, entry));
      }
      cursor = range.before - 1;
    }
    if (!signal.aborted) yield notification('heartbeat', at(cursor));
  }
}

function errorFrame(app: DoorRequest['app'], id: unknown): (thrown: unknown) => string {
  return (thrown) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, error: errorOf(app, thrown) })}`;
}

function errorOf(app: DoorRequest['app'], thrown: unknown): object {
  const { code, message, data } = eventError(app, thrown);
  return { code, message, ...(data === undefined ? {} : { data }) };
}

/** As a protocol error: the extension has no other. */
export function eventError(app: DoorRequest['app'], thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const { code, message, extensions } = asGatewayError(app, thrown);
  const { InternalError, InvalidParams } = ProtocolErrorCode;
  const isTheirs = code !== 'internal' && code !== 'unavailable';
  return new ProtocolError(isTheirs ? InvalidParams : InternalError, message, {
    code,
    ...extensions,
  });
}
