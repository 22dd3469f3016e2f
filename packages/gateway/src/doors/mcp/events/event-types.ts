/**
 * The event types of MCP Events (extension `io.modelcontextprotocol/events`, SEP-3415; PROTOCOL.md section 18.10),
 * and which entries a subscription to one of them selects. Nothing is stored for a subscriber: its cursor is a
 * seq of the log.
 */
import { ProtocolError } from '@modelcontextprotocol/server';
import { KINDS, quoted, SELECTOR_NAMES, type Language } from '@open-presence/protocol';

import type { Localization } from '../../../http/route-description.ts';
import { toJsonObject, type JsonObject } from '../../../json/json-object.ts';
import { facet } from '../../../log/facet.ts';
import type { Entry, Selection, Seq } from '../../../log/log.ts';
import { NearNames } from '../../../near-names.ts';
import { requiredName } from '../../../operations/catch-up.ts';
import { said } from '../../../operations/said.ts';
import type { DoorContext } from '../../context.ts';
import { listedEntry, portableJson } from '../tools/results.ts';
import { invalidArgument, namedParameters, selectionOf, textArgument } from '../tools/tool-call.ts';

export const EVENTS_EXTENSION = 'io.modelcontextprotocol/events';
/** The extension's code for a name that no event type has. */
const NOT_FOUND = -32_011;
const SUBJECT = 'the events';

type EventName = keyof Language['mcp']['events'];

/** The filters that each takes. */
const FILTERS: Readonly<Record<EventName, readonly (keyof Language['parameters'])[]>> = {
  entry: ['room', 'kind', ...SELECTOR_NAMES],
  concerns: ['identity'],
  first_contact: ['room', 'seeking'],
};

export interface Subscription {
  readonly selection: Pick<Selection, 'facets'>;
  /** Where to go on: after this entry. */
  readonly after: Seq;
  readonly name: string;
  /** Whether the entry is no event for the subscriber. */
  isLeftOut(entry: Entry): Promise<boolean>;
}

const EVENT_NAMES: readonly EventName[] = ['entry', 'concerns', 'first_contact'];

/** As `events/list` describes them. */
export function listEventTypes({ language, text }: Localization): object[] {
  return EVENT_NAMES.map((name) => ({
    name,
    description: text(language.mcp.events[name]),
    delivery: ['poll', 'push'],
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        FILTERS[name].map((filter) => [
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

/** Throws a `ProtocolError` for an unknown name, and a `GatewayError` for arguments and cursors that cannot be used. */
export async function subscriptionOf(
  app: DoorContext,
  { name, arguments: given, cursor, maxAgeMs }: JsonObject,
): Promise<Subscription> {
  const type = EVENT_NAMES.find((one) => one === name);
  if (type === undefined) {
    const message = `There is no event type ${quoted(String(name))}. There are ${EVENT_NAMES.join(', ')}.`;
    throw new ProtocolError(NOT_FOUND, message, { kind: 'event' });
  }
  const args = argumentsOf(type, given);
  const parameters = namedParameters(args, SUBJECT, FILTERS[type]);
  if (type === 'concerns') {
    parameters.set('concerns', requiredName(parameters.getAll('identity')));
    parameters.delete('identity');
  }
  const from = cursorIn(cursor, app.log.head());
  if (from !== undefined) parameters.set('after', from);
  if (typeof maxAgeMs === 'number') {
    parameters.set('since', new Date(Math.max(0, app.log.now() - maxAgeMs)).toISOString());
  }
  const { facets, after = app.log.head(), since } = await selectionOf(app, parameters);
  const contact = type === 'first_contact' ? [facet('kind', 'resonance')] : [];
  const [own] = type === 'concerns' ? namesOf(args['identity']) : [];
  return {
    selection: { facets: [...facets, ...contact], ...(since === undefined ? {} : { since }) },
    after,
    name: type,
    // What a name says itself does not concern it.
    isLeftOut: async (entry) => own !== undefined && (await said(entry, 1)).from === own,
  };
}

function cursorIn(cursor: unknown, head: Seq): string | undefined {
  const from = textArgument({ cursor }, 'cursor', SUBJECT);
  if (from === undefined || (/^\d+$/.test(from) && Number(from) <= head)) return from;
  const detail = `"cursor" must be one from this log, whose newest is "${head}", got ${quoted(from)}: the log was restored from a backup, or the cursor is another gateway's. Without a cursor, events begin now; "0" is for all`;
  throw invalidArgument('cursor', detail, SUBJECT);
}

/** Unlike tools, events are never asked for by mistake without an error: nobody would read a note. */
function argumentsOf(type: EventName, given: unknown): JsonObject {
  const args = toJsonObject(given);
  const near = new NearNames(FILTERS[type]);
  for (const [name, value] of Object.entries(args)) {
    if (!near.has(name)) {
      const meant = near.nearest(name);
      const advice = meant === undefined ? '' : ` Did you mean ${quoted(meant.known)}?`;
      const detail = `${type} has no argument ${quoted(name)}: it takes ${FILTERS[type].join(', ')}.${advice}`;
      throw invalidArgument(name, detail, SUBJECT);
    }
    if (!isTexts(value))
      throw invalidArgument(name, `"${name}" must be a string or an array of strings`, SUBJECT);
  }
  return args;
}

function isTexts(value: unknown): boolean {
  return [value].flat().every((one) => typeof one === 'string');
}

function namesOf(value: unknown): string[] {
  return [value].flat().filter((one) => typeof one === 'string');
}

/** The JSON text of an occurrence. What visitors wrote stands apart, after a label that says so. */
export function occurrence(
  { language, text }: Localization,
  { name }: Subscription,
  entry: Entry,
): string {
  const { id, seq, time } = entry.metadata;
  const note = portableJson(text(language.labels.untrusted));
  const own = { eventId: id, name, timestamp: new Date(time).toISOString(), cursor: String(seq) };
  const { line } = listedEntry(entry);
  return `${JSON.stringify(own).slice(0, -1)},"data":{"note":${note},"entry":${line}}}`;
}
