/**
 * MCP Events (extension `io.modelcontextprotocol/events`, SEP-3415; PROTOCOL.md section 18.10), by polling and by
 * push. Nothing is stored for a subscriber: its cursor is a seq of the log. An argument that cannot be obeyed is an
 * error: nobody would read a note, and silence would look as if nothing happened.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {
  type Kind,
  KINDS,
  type Language,
  portableJson,
  quoted,
  SELECTOR_NAMES,
} from '@open-presence/protocol';
import { z } from 'zod/v4';

import { follow } from '../../feed/follow.ts';
import { abortOnDisconnect } from '../../http/context.ts';
import { JSON_TYPE, NO_STORE } from '../../http/response/headers.ts';
import { jsonBody, sendResponse } from '../../http/response/response.ts';
import type { Localization } from '../../http/route-description.ts';
import { isJsonObject, toJsonObject, type JsonObject } from '../../json/json-object.ts';
import { facet } from '../../log/facet.ts';
import type { Entry, Selection, Seq } from '../../log/log.ts';
import { NearNames } from '../../near-names.ts';
import { requiredName } from '../../operations/catch-up/catch-up.ts';
import { said } from '../../operations/contribution/said.ts';
import { boundedSelection, DEFAULT_LIMIT, readPage } from '../../operations/read-page.ts';
import { untilSeen } from '../../operations/until-seen.ts';
import { localizationFor, type DoorContext, type DoorRequest } from '../context.ts';
import { streamEvents } from '../stream-events.ts';
import { asGatewayError, listedEntry, MAX_RESULT_SIZE } from './tools/results.ts';
import {
  invalidArgument,
  type McpRequest,
  meantBy,
  namedParameters,
  selectionOf,
  textArgument,
  type ToolContext,
} from './tools/tool-call.ts';

export const EVENTS_EXTENSION = 'io.modelcontextprotocol/events';

type EventName = keyof Language['mcp']['events'];

interface EventType {
  /** The parameters that it takes as arguments. */
  readonly filters: readonly (keyof Language['parameters'])[];
  /** The only kind that it tells of. */
  readonly kind?: Kind;
}

const EVENT_TYPES: Readonly<Record<EventName, EventType>> = {
  entry: { filters: ['room', 'kind', ...SELECTOR_NAMES] },
  concerns: { filters: ['identity'] },
  first_contact: { filters: ['room', 'seeking'], kind: 'resonance' },
};

function isEventName(name: string): name is EventName {
  return Object.hasOwn(EVENT_TYPES, name);
}

const EVENT_NAMES: readonly EventName[] = Object.keys(EVENT_TYPES).filter(isEventName);

/** As `events/list` describes them. */
function listEventTypes({ language, text }: Localization): object[] {
  return EVENT_NAMES.map((name) => ({
    name,
    description: text(language.mcp.events[name]),
    delivery: ['poll', 'push'],
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        EVENT_TYPES[name].filters.map((filter) => [
          filter,
          { ...VALUES, description: text(language.parameters[filter]) },
        ]),
      ),
      ...(name === 'concerns' ? { required: ['identity'] } : {}),
      additionalProperties: false,
    },
    payloadSchema: PAYLOAD,
  }));
}

const TEXT = { type: 'string' };
const VALUES = { anyOf: [TEXT, { type: 'array', items: TEXT }] };
const PAYLOAD = {
  type: 'object',
  properties: {
    note: { type: 'string' },
    entry: {
      type: 'object',
      properties: {
        id: TEXT,
        seq: { type: 'integer' },
        kind: { type: 'string', enum: [...KINDS] },
        room: TEXT,
        timestamp: { type: 'string', format: 'date-time' },
      },
      required: ['id', 'seq', 'kind', 'room', 'timestamp'],
    },
  },
  required: ['note', 'entry'],
};

/** The JSON text of an occurrence. Visitors' words stand apart, after a label that says so. */
function occurrence({ language, text }: Localization, name: EventName, entry: Entry): string {
  const { id, seq, time } = entry.metadata;
  const note = portableJson(text(language.labels.untrusted));
  const own = { eventId: id, name, timestamp: new Date(time).toISOString(), cursor: String(seq) };
  const { line } = listedEntry(entry);
  return `${JSON.stringify(own).slice(0, -1)},"data":{"note":${note},"entry":${line}}}`;
}

/** The gateway reads them itself: its errors say how to repair the request. */
const params = z.looseObject({});
/** The extension's code for a way of delivery that an event type does not have. */
const UNSUPPORTED = -32_014;
const NO_WEBHOOKS =
  'There are no webhooks here: a callback belongs to somebody who is known, and nobody has to be. Call events/poll, or keep events/stream open; both go on from a cursor.';
export function handleEvents(
  server: Server,
  localization: Localization,
  contextOf: (context: ServerContext) => ToolContext,
): void {
  server.setRequestHandler('events/list', { params }, () => ({
    events: listEventTypes(localization),
  }));
  server.setRequestHandler('events/poll', { params }, async (given, serverContext) => {
    const context = contextOf(serverContext);
    try {
      return await pollEvents(context, given);
    } catch (error) {
      throw eventError(context.app, error);
    }
  });
  server.setRequestHandler('events/subscribe', { params }, () => {
    const data = { feature: 'deliveryMode', value: 'webhook' };
    throw new ProtocolError(UNSUPPORTED, NO_WEBHOOKS, data);
  });
}

/** The extension's code for a name that no event type has. */
const NOT_FOUND = -32_011;
const SUBJECT = 'the events';

interface Subscription {
  readonly name: EventName;
  readonly selection: Pick<Selection, 'facets' | 'since'>;
  /** Where to go on: after this entry. */
  readonly after: Seq;
  /** Whether the entry is no event for the subscriber. */
  isLeftOut(entry: Entry): Promise<boolean>;
}

/** Throws a `ProtocolError` for an unknown name, and a `GatewayError` for any other fault. */
async function subscriptionOf(app: DoorContext, params: JsonObject): Promise<Subscription> {
  const { log } = app;
  const name = eventNamed(params['name']);
  const { filters, kind } = EVENT_TYPES[name];
  const args = argumentsOf(name, params['arguments']);
  const { cursor } = params;
  await untilSeen(log, [...Object.entries(args), ['after', cursor]]);
  const after = cursorIn(cursor, log.head());
  const parameters = namedParameters(args, SUBJECT, filters);
  const own =
    name === 'concerns'
      ? requiredName(parameters.getAll('identity'), { identity: 'Lumen' })
      : undefined;
  if (own !== undefined) {
    parameters.delete('identity');
    parameters.set('concerns', own);
  }
  const maxAge = wholeNumberIn(params, 'maxAgeMs', 0);
  if (maxAge !== undefined)
    parameters.set('since', new Date(Math.max(0, log.now() - maxAge)).toISOString());
  const { facets, since } = await selectionOf(app, parameters);
  const ofKind = kind === undefined ? [] : [facet('kind', kind)];
  return {
    name,
    selection: { facets: [...facets, ...ofKind], ...(since === undefined ? {} : { since }) },
    after,
    // What a name says itself does not concern it.
    isLeftOut: async (entry) =>
      own !== undefined && (await said(log, entry, 1)).names.includes(own),
  };
}

/** A member of the params that counts something; undefined where it is not given. */
function wholeNumberIn(params: JsonObject, member: string, least: number): number | undefined {
  const value = params[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
  throw invalidArgument(member, `"${member}" must be a whole number from ${least}`, SUBJECT);
}

function eventNamed(given: unknown): EventName {
  if (typeof given === 'string' && isEventName(given)) return given;
  const known = EVENT_NAMES.join(', ');
  if (typeof given !== 'string')
    throw invalidArgument('name', `"name" must be one of ${known}`, SUBJECT);
  const message = `There is no event type ${quoted(given)}. There are ${known}.`;
  throw new ProtocolError(NOT_FOUND, message, { kind: 'event' });
}

function argumentsOf(type: EventName, given: unknown): JsonObject {
  if (given === undefined || given === null) return {};
  if (!isJsonObject(given)) {
    const example = '{"room":"memory-garden"}';
    throw invalidArgument(
      'arguments',
      `"arguments" must be an object, such as ${example}`,
      SUBJECT,
    );
  }
  const { filters } = EVENT_TYPES[type];
  const near = new NearNames(filters);
  for (const [name, value] of Object.entries(given)) {
    if (!near.has(name)) {
      const detail = `${type} has no argument ${quoted(name)}${meantBy(near, name)}: it takes ${filters.join(', ')}`;
      throw invalidArgument(name, detail, SUBJECT);
    }
    if (!isTexts(value))
      throw invalidArgument(name, `"${name}" must be a string or an array of strings`, SUBJECT);
  }
  return given;
}

function isTexts(value: unknown): boolean {
  return [value].flat().every((one) => typeof one === 'string');
}

/** Without a cursor, what comes from now on. */
function cursorIn(cursor: unknown, head: Seq): Seq {
  const from = textArgument({ cursor }, 'cursor', SUBJECT);
  if (from === undefined) return head;
  if (/^[0-9]+$/.test(from) && Number(from) <= head) return Number(from);
  const detail = `"cursor" must be one from this log, whose newest is "${head}", got ${quoted(from)}: the log was restored from a backup, or the cursor is another gateway's. Without a cursor, events begin now; "0" is for all`;
  throw invalidArgument('cursor', detail, SUBJECT);
}

/** A suggestion: a client that asks more often is answered as well. `events/stream` needs no asking. */
const NEXT_POLL_MS = 10_000;

async function pollEvents(context: ToolContext, params: JsonObject): Promise<JsonObject> {
  const { log } = context.app;
  // First: whatever comes while the params are read is not older than a cursor of now.
  const head = log.head();
  const subscription = await subscriptionOf(context.app, params);
  const maxEvents = wholeNumberIn(params, 'maxEvents', 1) ?? DEFAULT_LIMIT;
  const limit = Math.min(maxEvents, Number.MAX_SAFE_INTEGER);
  const { selection, after } = subscription;
  const wanted = { ...selection, order: 'oldest', after, limit } as const;
  const events: JsonObject[] = [];
  const { signal } = context;
  const reading = log.readEntries({ ...boundedSelection(wanted, head), signal });
  const end = await readPage(reading, MAX_RESULT_SIZE, async (entry) => {
    if (await subscription.isLeftOut(entry)) return 0;
    const text = occurrence(context, subscription.name, entry);
    events.push(toJsonObject(JSON.parse(text)));
    return text.length;
  });
  const cursor = String(end.more ? (end.last ?? after) : Math.max(after, head));
  return { events, cursor, truncated: false, hasMore: end.more, nextPollMs: NEXT_POLL_MS };
}

/** Before other streams send a comment, which has no cursor. */
const HEARTBEAT_MS = 10_000;
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
    const subscription = await subscriptionOf(app, toJsonObject(params));
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

function errorFrame(app: DoorContext, id: unknown): (thrown: unknown) => string {
  return (thrown) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, error: errorOf(app, thrown) })}`;
}

function errorOf(app: DoorContext, thrown: unknown): object {
  const { code, message, data } = eventError(app, thrown);
  return { code, message, ...(data === undefined ? {} : { data }) };
}

/** As a protocol error: the extension has no other. */
function eventError(app: DoorContext, thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const { code, message, extensions } = asGatewayError(app, thrown);
  const { InternalError, InvalidParams } = ProtocolErrorCode;
  const isTheirs = code !== 'internal' && code !== 'unavailable';
  return new ProtocolError(isTheirs ? InvalidParams : InternalError, message, {
    code,
    ...extensions,
  });
}
