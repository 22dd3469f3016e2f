/** What a tool is called with: its context, and its arguments, read as parameters of a listing. */
import {
  GatewayError,
  type Kind,
  type Language,
  quoted,
  SELECTOR_NAMES,
} from '@open-presence/protocol';

import type { Localization } from '../../../http/route-description.ts';
import { quote } from '../../../intake/parameter-faults.ts';
import { parseSearchSelection } from '../../../intake/selection.ts';
import type { JsonObject } from '../../../json/json-object.ts';
import type { Selection } from '../../../log/log.ts';
import { NearNames } from '../../../near-names.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import { visitorFor } from '../../../operations/who-is-here.ts';
import type { DoorContext, DoorRequest } from '../../context.ts';

export const CONTRIBUTION_TOOLS: Readonly<Record<Kind, string>> = {
  resonance: 'first_contact',
  garden: 'leave_trace',
  seeds: 'plant_seed',
  shepit: 'whisper',
};
/** The arguments of those that are not members of the entry. */
export const OWN_ARGUMENTS = ['idempotencyKey', 'furtherMembers'] as const;
/**
 * How the tools that list entries call the filter `identity`. As an argument of other tools, `identity` is the
 * caller's own name.
 */
const AUTHOR = 'from';
/** The parameters of a listing whose order is given. */
export const NEWS_PARAMETERS = [
  'q',
  'kind',
  'room',
  ...SELECTOR_NAMES.map(argumentName),
  'since',
  'until',
  'limit',
  'before',
  'after',
] as const;
export const LISTING_PARAMETERS = [...NEWS_PARAMETERS, 'order'] as const;
export const SEARCH_PARAMETERS = [...LISTING_PARAMETERS, 'skip'] as const;
/** Who reads: every tool that reads takes it, in `filters` too. */
export const READER = 'as';
export const NUMBER_PARAMETERS: readonly string[] = ['limit', 'after', 'before', 'skip', 'budget'];

/** The argument for a parameter of a listing. */
export function argumentName(parameter: string): string {
  return parameter === 'identity' ? AUTHOR : parameter;
}

/** Each names the arguments that most calls need; `filters` has the others. */
export const READ_TOOLS: readonly (readonly [
  name: keyof Language['mcp']['tools'],
  parameters: readonly (keyof Language['parameters'])[],
  others: readonly (keyof Language['mcp']['arguments'])[],
  required?: string[],
])[] = [
  ['catch_up', ['after', 'before', 'budget'], ['identity', 'seconds'], ['identity']],
  ['read', ['room', 'identity', 'to', 'thread', 'after', 'before'], ['limit', 'filters']],
  ['search', ['q', 'room', 'identity', 'after', 'before', 'skip'], ['limit', 'filters'], ['q']],
  ['get_entry', [], ['id', 'from'], ['id']],
  // Strict clients refuse a schema without properties.
  ['list_rooms', [], ['as']],
  ['who_is_here', ['room'], ['limit', 'as']],
  ['wait_for_news', ['room', 'thread', 'after'], ['seconds', 'filters']],
];

/** A message, and the HTTP request that it came with. */
export interface McpRequest {
  readonly context: DoorRequest;
  readonly message: unknown;
  /** Members of the message whose numbers were not kept. */
  readonly changed: Set<string>;
}

/** The context in which a tool is called or a resource is read. */
export interface ToolContext extends Localization {
  readonly app: DoorContext;
  readonly response: DoorRequest['response'];
  /** Reads the idempotency key that the header has for this call. Throws `invalid-parameter`. */
  readonly headerKey: () => Uint8Array | undefined;
  /** Arguments whose numbers were not kept. */
  readonly changed: Set<string>;
  /** Tells a caller who gave a token for it how far the call is. */
  readonly sendProgress: ((progress: number, message: string) => void) | undefined;
  /** Aborted when the caller cancels the request or disconnects. */
  readonly signal: AbortSignal;
}

/** The arguments that are parameters of a listing, and the parameters in `filters`. Throws `invalid-parameter`. */
export function parametersOf(
  args: JsonObject,
  subject: string,
  names: readonly string[] = LISTING_PARAMETERS,
): URLSearchParams {
  const parameters = namedParameters(args, subject, names);
  const near = new NearNames([...names, 'identity', READER]);
  for (const [name, value] of filtersIn(args, subject)) {
    if (!near.has(name)) {
      const detail = `"filters" takes no ${quote(name)}${meantBy(near, name)}`;
      throw invalidArgument('filters', detail, subject);
    }
    parameters.append(name, value);
  }
  for (const name of parameters.getAll(AUTHOR)) parameters.append('identity', name);
  parameters.delete(AUTHOR);
  return parameters;
}

/** Beside an unknown name: which one is probably meant. Empty if none is. */
export function meantBy(near: NearNames, name: string): string {
  const meant = near.meant(name);
  return meant === undefined ? '' : ` (did you mean ${quoted(meant)}?)`;
}

/** The arguments of these names as parameters. Throws `invalid-parameter`. */
export function namedParameters(
  args: JsonObject,
  subject: string,
  names: readonly string[],
): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const name of names) {
    const values: readonly unknown[] = [args[name]].flat();
    for (const value of values) {
      if (value === undefined || value === null) continue;
      parameters.append(name, asText(name, value, subject));
    }
  }
  return parameters;
}

const READ_SCHEMA: readonly string[] = READ_TOOLS.flatMap(([name, parameters, others]) =>
  name === 'read' ? [...parameters.map(argumentName), ...others] : [],
);

/** A call of `read` that has no argument but those of its schema: strict clients send no others. */
export function callOfRead(parameters: JsonObject): { tool: 'read'; arguments: JsonObject } {
  const given = Object.entries(parameters).map(
    ([name, value]) => [argumentName(name), value] as const,
  );
  const named = given.filter(([name]) => READ_SCHEMA.includes(name));
  const filters = new URLSearchParams();
  for (const [name, value] of given)
    if (!READ_SCHEMA.includes(name)) filters.append(name, String(value));
  const others = filters.size === 0 ? {} : { filters: filters.toString() };
  return { tool: 'read', arguments: { ...Object.fromEntries(named), ...others } };
}

/** Further parameters, in one text spelled as in a URL, so that the schema need not name them all. */
function filtersIn({ filters = '' }: JsonObject, subject: string): URLSearchParams {
  if (typeof filters === 'string') return new URLSearchParams(filters);
  const detail = '"filters" must be one text, spelled as in a URL, such as "kind=seeds&to=Lumen"';
  throw invalidArgument('filters', detail, subject);
}

/** Throws for parameters that cannot be used. */
export async function selectionOf(
  { grammar, log }: DoorContext,
  parameters: URLSearchParams,
): Promise<Selection> {
  return await parseSearchSelection(parameters, { ...everythingScope(), grammar, log });
}

/** The arguments that are obeyed, as they were given, if they can be parameters. */
export function obeyedArguments(args: JsonObject, names: readonly string[]): JsonObject {
  const parameters = namedParameters(args, '', names);
  const listed = [...new Set(parameters.keys())].map((name): [string, unknown] => {
    const isNumber = NUMBER_PARAMETERS.includes(name);
    const values = parameters.getAll(name).map((value) => (isNumber ? Number(value) : value));
    return [name, values.length === 1 ? values[0] : values] as const;
  });
  const others = pickArguments(args, ['filters', 'seconds', 'as']);
  return { ...Object.fromEntries(listed), ...others };
}

/** The named arguments that are strings or numbers: others identify nobody. */
export function pickArguments(args: JsonObject, names: readonly string[]): JsonObject {
  const isPicked = ([name, value]: [string, unknown]): boolean =>
    names.includes(name) && (typeof value === 'string' || typeof value === 'number');
  return Object.fromEntries(Object.entries(args).filter(isPicked));
}

/** Makes the reader of a listing present, where the arguments name one, or `filters` among its parameters. */
export function markListingReader(
  app: DoorContext,
  { as }: JsonObject,
  parameters: URLSearchParams,
): void {
  markPresent(app, { as: as ?? parameters.get(READER), room: parameters.get('room') });
}

/** Makes the reader present, where the arguments name one. */
export function markPresent(app: DoorContext, args: JsonObject): void {
  const reader = visitorFor(app, args['as'], args['room']);
  if (reader !== undefined) app.presence.recordRequest(reader);
}

/** One argument as text; undefined where it is not given. Throws `invalid-parameter`. */
export function textArgument(args: JsonObject, name: string, subject: string): string | undefined {
  const value = args[name];
  return value === undefined || value === null ? undefined : asText(name, value, subject);
}

function asText(name: string, value: unknown, subject: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw invalidArgument(name, `"${name}" must be a text or a number`, subject);
}

export function invalidArgument(parameter: string, detail: string, subject: string): GatewayError {
  return new GatewayError('invalid-parameter', `Cannot read ${subject}: ${detail}`, {
    faults: [{ parameter, detail }],
  });
}
