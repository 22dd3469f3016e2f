/**
 * Finds the handler of a request by its path, its method and the media type that the caller prefers.
 *
 * Owns `HEAD`, `OPTIONS`, 404 and 405 for every path. Refuses to know what paths serve. Upholds that
 * an error in a handler is answered and reported, and does not affect other requests.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError, quoted } from '@open-presence/protocol';
import FindMyWay, { type HTTPMethod } from 'find-my-way';

import { COMMON_HEADERS, type Headers } from './response/headers.ts';
import type { Handler, RequestContext, StartupContext } from './context.ts';
import { type Guesses, nearestPaths } from './nearest-paths.ts';
import { preferred, type Offer } from './negotiation.ts';
import { isUtf8, ParameterCheck } from './parameters/parameter-check.ts';
import { NO_ROUTE, type RouteName } from './request-observer.ts';
import { sendError, sendProblem } from './response/problem.ts';
import type { DescribedRoute } from './route-description.ts';
import type { Door, PathParameters } from './routing/door.ts';
import {
  checkParameters,
  type MergedRoute,
  mergeRoutes,
  observed,
} from './routing/merged-routes.ts';
import type { FastPostHandler } from './fast/fast-post.ts';

const PROBLEM = 'application/problem+json';

/** Asks for JSON whatever `Accept` says: a browser cannot change what it accepts. */
const JSON_IN_QUERY = /[?&]format=json(?:&|$)/;
const JSON_RANGE = 'application/json';

/** Where paths are listed: an error names only the nearest. */
const DIRECTORY = 'GET /api/discover lists the main paths, /openapi.json the REST interface.';

interface Match<App extends StartupContext> {
  readonly name: RouteName;
  readonly handle: Handler<App>;
  readonly whileStarting: Handler<StartupContext> | undefined;
  /** Whether a `GET` of the path stores an entry. */
  readonly storesByGet: boolean;
  readonly params: PathParameters;
}

export interface FastPostRoute<App extends StartupContext> {
  readonly name: RouteName;
  readonly handle: FastPostHandler<App>;
}

export interface Unmatched {
  readonly error: GatewayError;
  readonly headers: Headers;
}

export class Router<App extends StartupContext> {
  readonly #guesses: Guesses;
  readonly #doors: readonly Door<App>[];
  readonly #routes: readonly MergedRoute<App>[];
  /** Keys are functions that are never called: they identify routes in `#finder`. */
  readonly #routeByKey = new Map<unknown, MergedRoute<App>>();
  readonly #fastPosts = new Map<string, FastPostRoute<App>>();
  readonly #finder = FindMyWay({
    ignoreTrailingSlash: true,
    maxParamLength: Number.MAX_SAFE_INTEGER,
    querystringParser: () => ({}),
  });

  /**
   * `doors`: by their names. `onRead` is called before each `GET` and `HEAD` except for event streams,
   * which are handled when its promise resolves, if it returns one. `guesses`: see `nearestPaths`.
   */
  constructor(
    doors: Readonly<Record<string, Door<App>>>,
    onRead: (context: RequestContext<App>) => Promise<void> | undefined,
    guesses: Guesses = {},
  ) {
    this.#guesses = guesses;
    this.#doors = Object.values(doors);
    this.#routes = mergeRoutes(doors);
    const check = new ParameterCheck(this.routes);
    for (const route of this.#routes) {
      checkParameters(route, check);
      for (const [index, one] of route.representations.entries()) {
        route.representations[index] = observed(one, onRead);
      }
      const { path, fastPost, postName = NO_ROUTE } = route;
      if (fastPost !== undefined) this.#fastPosts.set(path, { name: postName, handle: fastPost });
      const url = route.path.replaceAll(':', '::').replace(/\{(\w+)\}/g, ':$1');
      const key = (): void => {};
      this.#routeByKey.set(key, route);
      this.#finder.on(route.post === undefined ? READS : [...READS, 'POST'], url, key);
    }
  }

  get routes(): readonly DescribedRoute[] {
    return this.#routes.map(({ path, post, representations, description = {} }) => {
      const methods = post === undefined ? (['GET'] as const) : (['GET', 'POST'] as const);
      return { path, methods, representations, description };
    });
  }

  /** Undefined if there is no such path, or if it does not take the method. */
  match({ method = '', url = '', headers }: IncomingMessage): Match<App> | undefined {
    const found = this.#find(method, url);
    if (found === undefined) return undefined;
    const { route, params } = found;
    const { post, postName: name = NO_ROUTE, postFromPage, representations } = route;
    const { whileStarting, storesByGet = false } = route;
    if (method === 'POST' && post !== undefined) {
      const isFromPage = postFromPage !== undefined && isPostFromPage(url, headers);
      return { name, handle: isFromPage ? postFromPage : post, whileStarting, storesByGet, params };
    }
    // There is nothing to read where a path only takes what is sent.
    if (representations.length === 0) return undefined;
    const { handle, ...representation } = preferred(acceptOf(url, headers), representations);
    const early = representation.whileStarting ?? whileStarting;
    return { name: representation.name, handle, whileStarting: early, storesByGet, params };
  }

  /** Finds the fast `POST` of a path, as its route writes it. */
  fastPostRoute(path: string): FastPostRoute<App> | undefined {
    return this.#fastPosts.get(path);
  }

  /** Returns the name of what answers the request. */
  dispatch(app: App, request: IncomingMessage, response: ServerResponse): RouteName {
    const match = this.match(request);
    const context = { app, request, response, params: match?.params ?? {} };
    runHandler(match?.handle ?? this.#sendUnmatched, context);
    return match?.name ?? NO_ROUTE;
  }

  /** The methods that a path takes; empty if there is no such path. */
  methodsAt(url: string): readonly string[] {
    const { route } = this.#find('GET', url) ?? {};
    if (route === undefined) return [];
    const reads = route.representations.length === 0 ? [] : ['GET', 'HEAD'];
    return [...reads, ...(route.post === undefined ? [] : ['POST']), 'OPTIONS'];
  }

  /** The error for a path that does not exist, or that does not take the method. */
  unmatched(method: string, url: string): Unmatched {
    const found = this.#find('GET', url);
    if (found === undefined) return { error: this.#notFound(url), headers: {} };
    const methods = this.methodsAt(url);
    const instead = found.route.instead?.(method, found.params);
    const detail = `Cannot ${method} ${quoted(url)}: this path accepts ${methods.join(', ')}.`;
    const error = new GatewayError(
      'method-not-allowed',
      instead === undefined ? detail : `${detail} ${instead}`,
      { known: methods },
    );
    return { error, headers: { Allow: methods.join(', ') } };
  }

  #notFound(url: string): GatewayError {
    const [path = ''] = url.split('?', 1);
    if (!isUtf8(path)) {
      const detail = `Cannot find ${quoted(url)}: the path must be UTF-8, percent-encoded as in %D0%A2.`;
      return new GatewayError('invalid-parameter', detail);
    }
    const known = nearestPaths(
      url,
      this.#routes.map(({ path }) => path),
      this.#guesses,
    );
    const nearest = known.length === 0 ? '' : ` Nearest: ${known.join(', ')}.`;
    const detail = `Cannot find ${quoted(url)}: there is no such path.${nearest} ${DIRECTORY}`;
    return new GatewayError('not-found', detail, { known });
  }

  #find(
    method: string,
    url: string,
  ): { route: MergedRoute<App>; params: PathParameters } | undefined {
    if (!isRoutable(method)) return undefined;
    const found = this.#finder.find(method, url);
    // A path with an invalid escape is found, but by no key of ours.
    const route = found === null ? undefined : this.#routeByKey.get(found.handler);
    return found === null || route === undefined ? undefined : { route, params: found.params };
  }

  /** Answers `OPTIONS`, other methods and unknown paths. */
  readonly #sendUnmatched = (context: RequestContext<App>): void | Promise<void> => {
    const { method = '', url = '', headers: wanted } = context.request;
    const isRead = method === 'GET' || method === 'HEAD';
    const accept = isRead ? acceptOf(url, wanted) : wanted.accept;
    const methods = this.methodsAt(url);
    if (method === 'OPTIONS') return sendOptions(context, methods);
    const doors = methods.length === 0 ? this.#doors : [];
    for (const { notFound } of doors) {
      if (notFound?.paths.test(url) !== true) continue;
      const { type = PROBLEM } = notFound;
      const offers = [{ type: PROBLEM }, { type }];
      if (preferred(accept, offers).type === type) return notFound.handle(context);
    }
    const { error, headers } = this.unmatched(method, url);
    return sendProblem(context, error, headers);
  };
}

/** What the caller of a `GET` accepts (PROTOCOL.md section 17.5). */
function acceptOf(url: string, { accept }: IncomingMessage['headers']): string | undefined {
  return JSON_IN_QUERY.test(url) ? JSON_RANGE : accept;
}

const PAGE_PARAMETER = /[?&]page=/;
const FORM = /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;
const JSON_OR_HTML: readonly Offer[] = [{ type: 'application/json' }, { type: 'text/html' }];

/** PROTOCOL.md section 7.10. */
function isPostFromPage(url: string, headers: IncomingMessage['headers']): boolean {
  if (!PAGE_PARAMETER.test(url) || !FORM.test(headers['content-type'] ?? '')) return false;
  return preferred(headers.accept, JSON_OR_HTML).type === 'text/html';
}

const READS: HTTPMethod[] = ['GET', 'HEAD'];

function isRoutable(method: string): method is 'GET' | 'HEAD' | 'POST' {
  return method === 'GET' || method === 'HEAD' || method === 'POST';
}

/** Runs a handler, and sends what it throws. */
export function runHandler<App extends StartupContext>(
  handler: Handler<App>,
  context: RequestContext<App>,
): void {
  try {
    handler(context)?.catch((error: unknown) => sendError(context, error));
  } catch (error) {
    sendError(context, error);
  }
}

/** A day: the methods of a path change only with the gateway's version. */
const PREFLIGHT_SECONDS = '86400';

function sendOptions(
  { request, response }: Pick<RequestContext, 'request' | 'response'>,
  methods: readonly string[],
): void {
  const allow = (methods.length === 0 ? ['OPTIONS'] : methods).join(', ');
  const { headers } = request;
  const method = headers['access-control-request-method'];
  const names = headers['access-control-request-headers'];
  const preflight = {
    // Allows any method, so that a page can read the 405.
    'Access-Control-Allow-Methods': method,
    'Access-Control-Allow-Headers': names ?? '*',
    'Access-Control-Max-Age': PREFLIGHT_SECONDS,
    Vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
  };
  response.writeHead(204, {
    Allow: allow,
    ...(method === undefined ? {} : preflight),
    ...COMMON_HEADERS,
  });
  response.end();
}
