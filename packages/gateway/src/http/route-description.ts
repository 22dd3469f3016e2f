/**
 * What routes and doors state about themselves. OpenAPI, discovery, guides and catalogs are made of
 * it. A route states plain data, which is loaded at start; schemas and examples come from the
 * `describe` of its door, which is loaded when a description is first requested.
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

/**
 * A parameter in OpenAPI's form. Without `in`, it is a parameter of the query, and members that it
 * leaves out are taken from the parameter that the language file describes by this name.
 */
export interface ParameterDescription {
  readonly name: string;
  readonly in?: 'header' | 'path' | 'query';
  readonly required?: boolean;
  readonly description?: string | ((localization: Localization) => string);
  readonly schema?: JsonObject;
  readonly example?: unknown;
}

interface OperationDescription {
  /** The operation id. By default made of method and path. */
  readonly id?: string;
  /** The key in `doors` of the language file whose text describes the route. `id` by default. */
  readonly door?: keyof Language['doors'];
  /** `doors` by default. */
  readonly tag?: 'kinds' | 'rooms' | 'here' | 'doors';
  readonly summary?: (localization: Localization) => string;
  readonly description?: (localization: Localization) => string;
  /**
   * Names of parameters that the language file describes, and others. A route that states them is not
   * sent those that only other routes take.
   */
  readonly parameters?: readonly (string | ParameterDescription)[];
  /** Parameters that the path has a value for already, and that may repeat it. */
  readonly fixed?: readonly string[];
  /** Answers have no `ETag`, and are never 304. */
  readonly untagged?: true;
  /** Takes `Range`, and answers 206 or 416 to it. */
  readonly ranges?: true;
  /** 503 has the same content as 200. */
  readonly reportsUnavailable?: true;
  /** Statuses of errors beside those that follow from path and parameters. */
  readonly errors?: readonly number[];
}

/** Describes `GET`. `POST` is described by the door's `operations`. */
export interface RouteDescription extends OperationDescription {
  /**
   * The paths that are described instead, where a variable part has a few known values. Empty for
   * what only a page of the gateway loads.
   */
  readonly paths?: readonly string[];
}

/** What an operation has that is too heavy to be loaded at start. */
export interface OperationDetails extends OperationDescription {
  readonly requestBody?: JsonObject;
  /** By status; instead of those that follow from the route. */
  readonly responses?: JsonObject;
}

/** What is answered in one representation. */
export interface Content {
  /** The media type, where it is not that of the representation. */
  readonly type?: string;
  readonly schema: JsonObject;
  readonly example?: unknown;
}

/** What a door provides for descriptions when one is first requested. */
export interface DoorDescription {
  readonly schemas?: JsonObject;
  /** By the `content` that representations name. */
  content?(localization: Localization): Readonly<Record<string, Content>>;
  /** By method and path: `POST /mcp`. */
  operations?(localization: Localization): Readonly<Record<string, OperationDetails>>;
}

export interface DescribedRoute {
  /** With variable parts in braces. */
  readonly path: string;
  readonly methods: readonly ('GET' | 'POST')[];
  readonly representations: readonly (Offer & { readonly content?: string })[];
  readonly description: RouteDescription;
}

/** The path of each operation with an id, with its required parameters as in a URI template. */
export function pathsById(routes: readonly DescribedRoute[]): ReadonlyMap<string, string> {
  const paths = routes.flatMap(({ path, description: { id, parameters = [] } }) => {
    if (id === undefined) return [];
    const query = parameters
      .filter((parameter) => typeof parameter === 'object')
      .flatMap(({ name, required }) => (required === true ? [`${name}={${name}}`] : []));
    return [[id, query.length === 0 ? path : `${path}?${query.join('&')}`] as const];
  });
  return new Map(paths);
}
