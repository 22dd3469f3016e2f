/**
 * What routes state about themselves. Discovery, guides and catalogs are made from it, and the parameters of
 * requests are checked against it.
 */
import type { Language, Locale, LocalizedText } from '@open-presence/protocol';

import type { Offer } from './negotiation.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The language and the locale in which a description is written. */
export interface Localization {
  readonly language: Language;
  readonly locale: Locale | undefined;
  readonly text: (text: LocalizedText) => string;
}

/** Describes `GET`. */
export interface RouteDescription {
  /** The name by which guides and catalogs know the route; its text is in `doors` of the language file. */
  readonly id?: string;
  /** Names of the query's parameters. A route that states them never gets parameters that only other routes take. */
  readonly parameters?: readonly string[];
  /** The parameters without which a request is refused. */
  readonly required?: readonly string[];
  /** Parameters that the path has a value for already, and that may repeat it. */
  readonly fixed?: readonly string[];
}

export interface DescribedRoute {
  /** With variable parts in braces. */
  readonly path: string;
  readonly methods: readonly ('GET' | 'POST')[];
  readonly representations: readonly Offer[];
  readonly description: RouteDescription;
}

/** The path of each route with an id, with its required parameters as in a URI template. */
export function pathsById(routes: readonly DescribedRoute[]): ReadonlyMap<string, string> {
  const paths = routes.flatMap(({ path, description: { id, required = [] } }) => {
    if (id === undefined) return [];
    const query = required.map((name) => `${name}={${name}}`);
    return [[id, query.length === 0 ? path : `${path}?${query.join('&')}`] as const];
  });
  return new Map(paths);
}
