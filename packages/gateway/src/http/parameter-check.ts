/**
 * Refuses parameters that other paths take and this one would not obey. Names that no path takes are
 * ignored. Routes state in their descriptions which parameters they take.
 */
import { GatewayError, type Fault } from '@open-presence/protocol';

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

  /** Throws `invalid-parameter` for those in the query of `url` that have no effect there. */
  check(url: string, method: string, { taken, refused }: TakenParameters): void {
    const mark = url.indexOf('?');
    if (mark === -1) return;
    let faults: Map<string, Fault> | undefined;
    for (let start = mark + 1; start < url.length;) {
      const separator = url.indexOf('&', start);
      const end = separator === -1 ? url.length : separator;
      const name = decodedName(url, start, end);
      start = end + 1;
      if (taken.has(name)) continue;
      const reason = Object.hasOwn(refused, name) ? refused[name] : this.#worksAt(name);
      if (reason === undefined) continue;
      faults ??= new Map();
      const detail = `"${name}" has no effect here: ${reason}`;
      if (faults.size < MAX_FAULTS) faults.set(name, { parameter: name, detail });
    }
    if (faults === undefined) return;
    const found = [...faults.values()];
    const sentence = found.map(({ detail }) => detail).join('; ');
    const detail = `Cannot ${method} ${url.slice(0, Math.min(mark, 200))}: ${sentence}`;
    throw new GatewayError('invalid-parameter', detail, { faults: found });
  }

  #worksAt(name: string): string | undefined {
    this.#pathsByName ??= pathsByName(this.#routes);
    const paths = this.#pathsByName.get(name);
    return paths && `GET ${paths.slice(0, MAX_PATHS).join(', ')} takes it`;
  }
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
  const equals = url.indexOf('=', start);
  const name = url.slice(start, equals === -1 || equals > end ? end : equals);
  if (!/[%+]/.test(name)) return name;
  const [decoded] = new URLSearchParams(name).keys();
  return decoded ?? '';
}
