/**
 * Refuses parameters that other paths take and this one would not obey, and values that are not UTF-8.
 * Makes notes on names that no path takes. Routes state in their descriptions which parameters they take.
 */
import type { IncomingMessage } from 'node:http';

import { GatewayError, quoted, type Fault } from '@open-presence/protocol';

import { canonicalName, NearNames } from '../../near-names.ts';
import { queryText } from './query.ts';
import type { DescribedRoute, RouteDescription } from '../route-description.ts';

/** What a representation, or `POST`, does with parameters. */
export interface TakenParameters {
  /** The parameters that it obeys. */
  readonly taken: ReadonlySet<string>;
  /** By name: why others have no effect, and what to do instead. */
  readonly refused: Readonly<Record<string, string>>;
  readonly near: NearNames;
}

/** Every path that takes `GET` takes this. */
const EVERYWHERE = 'as';
/** Chooses JSON at every path (PROTOCOL.md section 17.5). */
const FORMAT = 'format';
const JSON_FORMAT = 'format=json';
const PAGES = /^(?:page|offset)/i;
const LANGUAGE = /^(?:hl|lang|language|locale)$/i;
/** No `GET` lists it: it works where an entry is stored. */
const KEY = 'idempotency-key';
const KEY_WORKS_AT = 'it works where an entry is stored, as at POST /api/garden';
/** How many faults, and how many paths, an error names. */
const MAX_FAULTS = 16;
const MAX_PATHS = 5;
/** How many unknown parameters an answer names. */
const MAX_NOTES = 8;

/** Undefined for a route that does not state its parameters: it takes any. */
export function takenParameters(
  { parameters, fixed = [] }: RouteDescription,
  refused: TakenParameters['refused'] = {},
): TakenParameters | undefined {
  if (parameters === undefined) return undefined;
  const names = [...parameters, ...fixed, EVERYWHERE];
  return takenNames(
    names.filter((name) => !(name in refused)),
    refused,
  );
}

export function takenNames(
  names: readonly string[],
  refused: TakenParameters['refused'] = {},
): TakenParameters {
  return {
    taken: new Set(names),
    refused,
    near: new NearNames([...names, ...Object.keys(refused)]),
  };
}

type CheckedRequest = Pick<IncomingMessage, 'url' | 'method'>;

const notesByRequest = new WeakMap<CheckedRequest, readonly string[]>();

/** Adds sentences to what the answer has to say. */
export function addNotes(request: CheckedRequest, notes: readonly string[]): void {
  if (notes.length > 0) notesByRequest.set(request, [...parameterNotes(request), ...notes]);
}

/** What the answer has to say about parameters without effect: sentences. */
export function parameterNotes(request: CheckedRequest): readonly string[] {
  return notesByRequest.get(request) ?? [];
}

/** They, as a member of a document; none where there are none. */
export function notesIn(request: CheckedRequest): { notes?: string[] } {
  const notes = parameterNotes(request);
  return notes.length === 0 ? {} : { notes: [...notes] };
}

/** These notes and `others` as the first member of a JSON object, with a comma. Empty if there are none. */
export function notesPart(request: CheckedRequest, others: readonly string[] = []): string {
  const notes = [...parameterNotes(request), ...others];
  return notes.length === 0 ? '' : `"notes":${JSON.stringify(notes)},`;
}

export class ParameterCheck {
  readonly #paths: ReadonlyMap<string, readonly string[]>;

  constructor(routes: readonly Pick<DescribedRoute, 'path' | 'description'>[]) {
    this.#paths = pathsByName(routes);
  }

  /**
   * Throws `invalid-parameter` for parameters in the query that have no effect there or are not UTF-8. Those
   * that no path takes become `parameterNotes` of the request.
   */
  check(request: CheckedRequest, { taken, refused, near }: TakenParameters): void {
    const query = queryText(request);
    if (query === '') return;
    const faults = new Map<string, Fault>();
    const given = new Set<string>();
    const unknown = new Set<string>();
    for (const parameter of query.split('&')) {
      const name = nameOf(parameter);
      const isTaken = taken.has(name);
      if (isTaken) given.add(name);
      else if (parameter !== '' && parameter !== JSON_FORMAT) unknown.add(name);
      const detail = isTaken ? encodingFault(name, parameter) : this.#misplaced(name, refused);
      if (detail !== undefined) faults.set(name, { parameter: name, detail });
    }
    if (faults.size > 0) throw this.#refusal(request, [...faults.values()].slice(0, MAX_FAULTS));
    const notes = [...unknown].slice(0, MAX_NOTES).map((name) => noteOn(name, near));
    // Where there is no order, nothing is listed, and waiting needs no cursor.
    if (given.has('wait') && !given.has('after') && taken.has('order')) notes.push(WAIT_NOTE);
    addNotes(request, notes);
  }

  #refusal({ url = '', method = '' }: CheckedRequest, faults: readonly Fault[]): GatewayError {
    const sentence = faults.map(({ detail }) => detail).join('; ');
    const path = url.slice(0, Math.min(url.indexOf('?'), 200));
    return new GatewayError('invalid-parameter', `Cannot ${method} ${path}: ${sentence}`, {
      faults,
    });
  }

  #misplaced(name: string, refused: TakenParameters['refused']): string | undefined {
    const reason = Object.hasOwn(refused, name) ? refused[name] : this.#worksAt(name);
    return reason === undefined ? undefined : `"${name}" has no effect here: ${reason}`;
  }

  #worksAt(name: string): string | undefined {
    if (name === KEY) return KEY_WORKS_AT;
    const paths = this.#paths.get(name);
    return paths && `it works at GET ${paths.slice(0, MAX_PATHS).join(', ')}`;
  }
}

const WAIT_NOTE =
  '"wait" had no effect: it needs a cursor. Request the "next" of an "order=oldest" answer, or "after" with the "head" of this one, and "wait".';

function noteOn(name: string, near: NearNames): string {
  if (name === FORMAT)
    return `"format" had an effect only as ${JSON_FORMAT}: choose others by the header "Accept".`;
  const note = `${quoted(name)} had no effect: there is no such parameter here.`;
  return `${note} ${adviceOn(name, near)}`.trim();
}

function adviceOn(name: string, near: NearNames): string {
  if (PAGES.test(name) && near.has('limit')) return PAGES_ADVICE;
  if (LANGUAGE.test(name)) return 'The header "Accept-Language" chooses the language.';
  const meant = near.meant(name);
  return meant === undefined ? '' : `Did you mean ${quoted(meant)}?`;
}

const PAGES_ADVICE =
  'There are no pages: "limit" bounds an answer, and its "next" leads on to what follows.';

/** The paths that take each parameter. Paths of one resource come last, and so do feeds, which are listings. */
function pathsByName(
  routes: readonly Pick<DescribedRoute, 'path' | 'description'>[],
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const rank = (path: string): number => Number(/[.{]/.test(path));
  const sorted = routes.toSorted((a, b) => rank(a.path) - rank(b.path));
  for (const { path, description } of sorted) {
    for (const name of description.parameters ?? []) {
      found.set(name, [...(found.get(name) ?? []), path]);
    }
  }
  return found;
}

function nameOf(parameter: string): string {
  const [name = ''] = parameter.split('=', 1);
  if (!/[%+[]/.test(name)) return name;
  const [decoded = ''] = new URLSearchParams(name).keys();
  return canonicalName(decoded);
}

function encodingFault(name: string, parameter: string): string | undefined {
  return isUtf8(parameter) ? undefined : `"${name}" must be UTF-8, percent-encoded as in %D0%A2`;
}

const NOT_ASCII = /%[89a-f]/i;
const STRAY_PERCENT = /%(?![\da-f]{2})/gi;

/** Whether the percent-encoded bytes of a part of a URL are UTF-8. A `%` without two digits is itself. */
export function isUtf8(encoded: string): boolean {
  return !NOT_ASCII.test(encoded) || isDecodable(encoded.replace(STRAY_PERCENT, '%25'));
}

function isDecodable(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}
