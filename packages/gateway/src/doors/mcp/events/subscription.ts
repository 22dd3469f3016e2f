/**
 * A subscriber's request, read alike for `events/poll` and `events/stream`. Nothing is stored for a subscriber:
 * its cursor is a seq of the log. Unlike with tools, an argument that cannot be obeyed is an error: nobody would
 * read a note, and silence would look as if nothing happened.
 */
import { ProtocolError } from '@modelcontextprotocol/server';
import { quoted } from '@open-presence/protocol';

import { isJsonObject, type JsonObject } from '../../../json/json-object.ts';
import { facet } from '../../../log/facet.ts';
import type { Entry, Selection, Seq } from '../../../log/log.ts';
import { NearNames } from '../../../near-names.ts';
import { requiredName } from '../../../operations/catch-up/catch-up.ts';
import { said } from '../../../operations/contribution/said.ts';
import { untilSeen } from '../../../operations/until-seen.ts';
import type { DoorContext } from '../../context.ts';
import { invalidArgument, namedParameters, selectionOf, textArgument } from '../tools/tool-call.ts';
import { EVENT_NAMES, EVENT_TYPES, type EventName, isEventName } from './event-types.ts';

/** The extension's code for a name that no event type has. */
const NOT_FOUND = -32_011;
const SUBJECT = 'the events';

/** Members of the params that both methods take. */
export const PARAMS = ['name', 'arguments', 'cursor', 'maxAgeMs', '_meta'];

export interface Subscription {
  readonly name: EventName;
  readonly selection: Pick<Selection, 'facets' | 'since'>;
  /** Where to go on: after this entry. */
  readonly after: Seq;
  /** Whether the entry is no event for the subscriber. */
  isLeftOut(entry: Entry): Promise<boolean>;
}

/** Throws a `ProtocolError` for an unknown name, and a `GatewayError` for any other fault. */
export async function subscriptionOf(
  app: DoorContext,
  params: JsonObject,
  known: NearNames,
): Promise<Subscription> {
  const { log } = app;
  requireKnown(params, known);
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

function requireKnown(params: JsonObject, known: NearNames): void {
  const given = Object.keys(params).filter((name) => params[name] !== null);
  const unknown = given.find((name) => !known.has(name));
  if (unknown === undefined) return;
  const meant = known.nearest(unknown);
  const advice =
    meant === undefined
      ? 'What selects events belongs in "arguments".'
      : `Did you mean ${quoted(meant.known)}?`;
  throw invalidArgument(unknown, `${quoted(unknown)} has no effect here. ${advice}`, SUBJECT);
}

/** A member of the params that counts something; undefined where it is not given. */
export function wholeNumberIn(
  params: JsonObject,
  member: string,
  least: number,
): number | undefined {
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
      const meant = near.nearest(name);
      const advice = meant === undefined ? '' : ` Did you mean ${quoted(meant.known)}?`;
      const detail = `${type} has no argument ${quoted(name)}: it takes ${filters.join(', ')}.${advice}`;
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
