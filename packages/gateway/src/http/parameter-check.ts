/**
 * Refuses parameters that other paths take and this one would not obey, and values that are not UTF-8.
 * Names that no path takes are ignored. Routes state in their descriptions which parameters they take.
 */
import { GatewayError, type Fault } from '@open-presence/protocol';

import { yieldPeriodically } from '../fair-turns.ts';
import { partsOf } from './query.ts';
import type { DescribedRoute, RouteDescription } from './route-description.ts';

/** What a representation, or `POST`, does with parameters. */
export interface TakenParameters {
  /** Those that it obeys. */
  readonly taken: ReadonlySet<string>;
  /** By name: why others have no effect, and what to do instead. */
  readonly refused: Readonly<Record<string, string>>;
}

/** Every path that takes `GET` takes this. */
const EVERYWHERE = 'as';
/** How many faults, and how many paths, an error names. */
const MAX_FAULTS = 16;
const MAX_PATHS = 5;
/** Longer queries are checked in turns with other work. */
const PARAMETERS_PER_PART = 256;
const EQUALS = 0x3d;

/** Undefined for a route that does not state its parameters: it takes any. */
export function takenParameters(
  { parameters, fixed = [] }: RouteDescription,
  refused: TakenParameters['refused'] = {},
): TakenParameters | undefined {
  if (parameters === undefined) return undefined;
  const names = [...parameters.map(nameOf), ...fixed, EVERYWHERE];
  return { taken: new Set(names.filter((name) => !(name in refused))), refused };
}

export class ParameterCheck {
  readonly #routes: readonly Pick<DescribedRoute, 'path' | 'description'>[];
  #pathsByName: ReadonlyMap<string, readonly string[]> | undefined;

  /** `routes` may grow until the first check. */
  constructor(routes: readonly Pick<DescribedRoute, 'path' | 'description'>[]) {
    this.#routes = routes;
  }

  /** Throws `invalid-parameter` for those in the query of `url` that have no effect there or are not UTF-8. */
  check(url: string, method: string, parameters: TakenParameters): void | Promise<void> {
    const mark = url.indexOf('?');
    if (mark === -1) return undefined;
    const parts = this.#checkParts(url, method, parameters);
    return parts.next().done === true ? undefined : finishInTurns(parts);
  }

  *#checkParts(url: string, method: string, { taken, refused }: TakenParameters): Generator<void> {
    const mark = url.indexOf('?');
    let faults: Map<string, Fault> | undefined;
    let count = 0;
    for (let start = mark + 1; start < url.length;) {
      const separator = url.indexOf('&', start);
      const end = separator === -1 ? url.length : separator;
      const name = decodedName(url, start, end);
      const parameter = url.slice(start, end);
      start = end + 1;
      count += 1;
      if (count % PARAMETERS_PER_PART === 0) yield;
      const detail = taken.has(name)
        ? yield* encodingFault(name, parameter)
        : this.#misplaced(name, refused);
      if (detail === undefined) continue;
      faults ??= new Map();
      if (faults.size < MAX_FAULTS) faults.set(name, { parameter: name, detail });
    }
    if (faults === undefined) return;
    const found = [...faults.values()];
    const sentence = found.map(({ detail }) => detail).join('; ');
    const detail = `Cannot ${method} ${url.slice(0, Math.min(mark, 200))}: ${sentence}`;
    throw new GatewayError('invalid-parameter', detail, { faults: found });
  }

  #misplaced(name: string, refused: TakenParameters['refused']): string | undefined {
    const reason = Object.hasOwn(refused, name) ? refused[name] : this.#worksAt(name);
    return reason === undefined ? undefined : `"${name}" has no effect here: ${reason}`;
  }

  #worksAt(name: string): string | undefined {
    this.#pathsByName ??= pathsByName(this.#routes);
    const paths = this.#pathsByName.get(name);
    return paths && `GET ${paths.slice(0, MAX_PATHS).join(', ')} takes it`;
  }
}

async function finishInTurns(parts: Generator<void>): Promise<void> {
  const yieldTurn = yieldPeriodically();
  do await yieldTurn();
  while (parts.next().done !== true);
}

/** The paths that take each parameter; those of one resource come last, and feeds, which are listings. */
function pathsByName(
  routes: readonly Pick<DescribedRoute, 'path' | 'description'>[],
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const rank = (path: string): number => Number(/[.{]/.test(path));
  const sorted = routes.toSorted((a, b) => rank(a.path) - rank(b.path));
  for (const { path, description } of sorted) {
    for (const parameter of description.parameters ?? []) {
      const name = nameOf(parameter);
      found.set(name, [...(found.get(name) ?? []), path]);
    }
  }
  return found;
}

function nameOf(parameter: string | { readonly name: string }): string {
  return typeof parameter === 'string' ? parameter : parameter.name;
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
