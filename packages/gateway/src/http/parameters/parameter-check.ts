/**
 * Refuses parameters that other paths take and this one would not obey, and values that are not UTF-8.
 * Makes notes on names that no path takes. Routes state in their descriptions which parameters they take.
 */
import type { IncomingMessage } from 'node:http';

import { GatewayError, quoted, type Fault } from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import { NearNames } from '../../near-names.ts';
import { partsOf } from './query.ts';
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
/** How many unknown parameters an answer names: they can be a million. */
const MAX_NOTES = 8;
/** Longer queries are checked in turns with other work. */
const PARAMETERS_PER_PART = 256;
const EQUALS = 0x3d;

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
  /** The names that any path takes. */
  readonly names: ReadonlySet<string>;

  constructor(routes: readonly Pick<DescribedRoute, 'path' | 'description'>[]) {
    this.#paths = pathsByName(routes);
    this.names = new Set([...this.#paths.keys(), EVERYWHERE, FORMAT, KEY]);
  }

  /**
   * Throws `invalid-parameter` for parameters in the query that have no effect there or are not UTF-8. Those
   * that no path takes become `parameterNotes` of the request.
   */
  check(request: CheckedRequest, parameters: TakenParameters): void | Promise<void> {
    if (request.url?.includes('?') !== true) return undefined;
    const parts = this.#checkParts(request, parameters);
    return parts.next().done === true ? undefined : finishInTurns(parts);
  }

  *#checkParts(request: CheckedRequest, parameters: TakenParameters): Generator<void> {
    const { url = '' } = request;
    const { taken, refused } = parameters;
    let faults: Map<string, Fault> | undefined;
    const unknown = new UnknownNames();
    let waits = false;
    let hasCursor = false;
    let count = 0;
    for (let start = url.indexOf('?') + 1; start < url.length;) {
      const separator = url.indexOf('&', start);
      const end = separator === -1 ? url.length : separator;
      const name = decodedName(url, start, end);
      const parameter = url.slice(start, end);
      start = end + 1;
      count += 1;
      if (count % PARAMETERS_PER_PART === 0) yield;
      const isTaken = taken.has(name);
      if (isTaken && name === 'wait') waits = true;
      if (isTaken && name === 'after') hasCursor = true;
      const detail = isTaken
        ? yield* encodingFault(name, parameter)
        : this.#misplaced(name, refused);
      if (detail !== undefined) {
        faults ??= new Map();
        if (faults.size < MAX_FAULTS) faults.set(name, { parameter: name, detail });
      } else if (!isTaken && parameter !== '' && parameter !== JSON_FORMAT) unknown.add(name);
    }
    if (faults !== undefined) throw this.#refusal(request, [...faults.values()]);
    const notes = unknown.notes(parameters.near, 'parameter');
    // Where there is no order, nothing is listed, and waiting needs no cursor.
    if (waits && !hasCursor && taken.has('order')) notes.push(WAIT_NOTE);
    if (notes.length > 0) notesByRequest.set(request, notes);
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

/** Names of parameters in one query, or of members of data, that nothing takes. */
class UnknownNames {
  readonly #names = new Set<string>();
  #isMore = false;

  add(name: string): void {
    if (this.#names.size < MAX_NOTES) this.#names.add(name);
    else this.#isMore ||= !this.#names.has(name);
  }

  /** `word`: what they are names of. */
  notes(near: NearNames, word: Word): string[] {
    const notes = Array.from(this.#names, (name) => noteOn(name, near, word));
    return this.#isMore
      ? [...notes, `Further ${word}s had no effect either: nothing here takes them.`]
      : notes;
  }
}

type Word = 'parameter' | 'member';

function noteOn(name: string, near: NearNames, word: Word): string {
  if (name === FORMAT && word === 'parameter')
    return `"format" had an effect only as ${JSON_FORMAT}: choose others by the header "Accept".`;
  return `${quoted(name)} had no effect: there is no such ${word} here. ${adviceOn(name, near)}`.trim();
}

function adviceOn(name: string, near: NearNames): string {
  if (PAGES.test(name) && near.has('limit')) return PAGES_ADVICE;
  if (LANGUAGE.test(name)) return 'The header "Accept-Language" chooses the language.';
  const meant = near.meant(name);
  return meant === undefined ? '' : `Did you mean ${quoted(meant)}?`;
}

const PAGES_ADVICE =
  'There are no pages: "limit" bounds an answer, and its "next" leads on to what follows.';

async function finishInTurns(parts: Generator<void>): Promise<void> {
  const yieldTurn = yieldPeriodically();
  do await yieldTurn();
  while (parts.next().done !== true);
}

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

/** The name of the parameter between two positions of a URL. */
function decodedName(url: string, start: number, end: number): string {
  let nameEnd = start;
  while (nameEnd < end && url.charCodeAt(nameEnd) !== EQUALS) nameEnd += 1;
  const name = url.slice(start, nameEnd);
  if (!/[%+]/.test(name)) return name;
  const [decoded] = new URLSearchParams(name).keys();
  return decoded ?? '';
}

function* encodingFault(name: string, parameter: string): Generator<void, string | undefined> {
  let checked = 0;
  for (const part of partsOf(parameter)) {
    if (!isUtf8(part)) return `"${name}" must be UTF-8, percent-encoded as in %D0%A2`;
    checked += part.length;
    if (checked < parameter.length) yield;
  }
  return undefined;
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
