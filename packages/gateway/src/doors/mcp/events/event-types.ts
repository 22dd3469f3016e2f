/**
 * The event types of MCP Events (extension `io.modelcontextprotocol/events`, SEP-3415; PROTOCOL.md section
 * 18.10): how `events/list` describes them, and how their occurrences are told.
 */
import { type Kind, KINDS, SELECTOR_NAMES, type Language } from '@open-presence/protocol';

import type { Localization } from '../../../http/route-description.ts';
import type { Entry } from '../../../log/log.ts';
import { listedEntry, portableJson } from '../tools/results.ts';

export const EVENTS_EXTENSION = 'io.modelcontextprotocol/events';

export type EventName = keyof Language['mcp']['events'];

interface EventType {
  /** The parameters that it takes as arguments. */
  readonly filters: readonly (keyof Language['parameters'])[];
  /** The only kind that it tells of. */
  readonly kind?: Kind;
}

export const EVENT_TYPES: Readonly<Record<EventName, EventType>> = {
  entry: { filters: ['room', 'kind', ...SELECTOR_NAMES] },
  concerns: { filters: ['identity'] },
  first_contact: { filters: ['room', 'seeking'], kind: 'resonance' },
};

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(EVENT_TYPES, name);
}

export const EVENT_NAMES: readonly EventName[] = Object.keys(EVENT_TYPES).filter(isEventName);

/** As `events/list` describes them. */
export function listEventTypes({ language, text }: Localization): object[] {
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
export function occurrence(
  { language, text }: Localization,
  name: EventName,
  entry: Entry,
): string {
  const { id, seq, time } = entry.metadata;
  const note = portableJson(text(language.labels.untrusted));
  const own = { eventId: id, name, timestamp: new Date(time).toISOString(), cursor: String(seq) };
  const { line } = listedEntry(entry);
  return `${JSON.stringify(own).slice(0, -1)},"data":{"note":${note},"entry":${line}}}`;
}
