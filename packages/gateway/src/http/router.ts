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
import {
  isDisconnected,
  type Handler,
  type RequestContext,
  type StartupContext,
} from './context.ts';
import { nearestPaths } from './nearest-paths.ts';
import { preferred, type Offer } from './negotiation.ts';
import {
  isUtf8,
  ParameterCheck,
  parameterNotes,
  takenParameters,
  type TakenParameters,
} from './parameter-check.ts';
import { readQuery } from './query.ts';
import { NO_ROUTE, type RouteName } from './request-observer.ts';
import { sendError, sendProblem } from './response/problem.ts';
import type { DescribedRoute, DoorDescription, RouteDescription } from './route-description.ts';
import type { SimplePostHandler } from './simple-post.ts';

export const EVENT_STREAM = 'text/event-stream';

const PROBLEM = 'application/problem+json';

/** Asks for JSON whatever `Accept` says: a browser cannot change what it accepts. */
const JSON_IN_QUERY = /[?&]format=json(?:&|$)/;
const JSON_RANGE = 'application/json';

/** Where all paths are listed: an error names only the nearest. */
const DIRECTORY = 'GET /api/discover lists the main paths, /openapi.json all.';

/** A media type that a path can send, and the handler that sends it. */
export interface Representation<App extends StartupContext> extends Offer {
  readonly handle: Handler<App>;
  /** The name by which descriptions know what is sent. They omit a representation without one. */
  readonly content?: string;
  /** By name: parameters of the route that have no effect in this representation, and why. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Handles requests for this representation before the log is open. That of the route by default. */
  readonly whileStarting?: Handler<StartupContext>;
}

/** What one door serves at a path. Several doors may add representations of the same path. */
interface Route<App extends StartupContext> {
  /** With its parameters in braces. */
  readonly path: string;
  readonly get: readonly Representation<App>[];
  readonly post?: Handler<App>;
  /** Handles a `POST` that bypasses `node:http`, if it can. */
  readonly simplePost?: SimplePostHandler<App>;
  /** Handles a `POST` from a page: of a form whose sender prefers HTML and names a page. */
  readonly postFromPage?: Handler<App>;
  /** Whether a `GET` stores an entry. */
  readonly storesByGet?: true;
  /** The parameters of `POST`; any, by default. */
  readonly postParameters?: TakenParameters;
  /** Handles `GET`, `HEAD` and `POST` before the log is open. */
  readonly whileStarting?: Handler<StartupContext>;
  readonly description?: RouteDescription;
  /** What to do instead of a method that the path does not take, as a sentence for the error. */
  readonly instead?: (method: string, params: PathParameters) => string | undefined;
}

/** The paths of one protocol. */
export interface Door<App extends StartupContext> {
  readonly routes: readonly Route<App>[];
  /**
   * Handles unknown paths that match, in the form of the door's protocol. With a `type`, only for callers
   * that prefer it to problem details.
   */
  readonly notFound?: {
    readonly paths: RegExp;
    readonly type?: string;
    readonly handle: Handler<App>;
  };
  readonly describe?: () => Promise<DoorDescription>;
}

type NamedRepresentation<App extends StartupContext> = Representation<App> & {
  readonly name: RouteName;
};

/** What all doors serve at one path. */
interface MergedRoute<App extends StartupContext> {
  readonly path: string;
  readonly representations: NamedRepresentation<App>[];
  /** Of its `POST`. */
  postName?: RouteName;
  post?: Handler<App>;
  simplePost?: SimplePostHandler<App>;
  postFromPage?: Handler<App>;
  storesByGet?: true;
  postParameters?: TakenParameters;
  whileStarting?: Handler<StartupContext>;
  description?: RouteDescription;
  instead?: Route<App>['instead'];
}

interface Match<App extends StartupContext> {
  readonly name: RouteName;
  readonly handle: Handler<App>;
  readonly whileStarting: Handler<StartupContext> | undefined;
  /** Whether a `GET` of the path stores an entry. */
  readonly storesByGet: boolean;
  readonly params: PathParameters;
}

export interface SimplePostRoute<App extends StartupContext> {
  readonly name: RouteName;
  readonly handle: SimplePostHandler<App>;
}

type PathParameters = RequestContext['params'];

export interface Unmatched {
  readonly error: GatewayError;
  readonly headers: Headers;
}

export class Router<App extends StartupContext> {
  readonly #guesses: ReadonlyMap<string, string>;
  readonly #doors: readonly Door<App>[];
  readonly #routes: readonly MergedRoute<App>[];
  /** Keys are functions that are never called: they identify routes in `#finder`. */
  readonly #routeByKey = new Map<unknown, MergedRoute<App>>();
  readonly #check: ParameterCheck;
  readonly #simplePosts = new Map<string, SimplePostRoute<App>>();
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
    guesses: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#guesses = guesses;
    this.#doors = Object.values(doors);
    this.#routes = merge(doors);
    const check = new ParameterCheck(this.routes);
    this.#check = check;
    for (const route of this.#routes) {
      checkParameters(route, check);
      for (const [index, one] of route.representations.entries()) {
        route.representations[index] = observed(one, onRead);
      }
      const { path, simplePost, postName = NO_ROUTE } = route;
      if (simplePost !== undefined)
        this.#simplePosts.set(path, { name: postName, handle: simplePost });
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

  async describeDoors(): Promise<readonly DoorDescription[]> {
    return await Promise.all(this.#doors.flatMap(({ describe }) => describe?.() ?? []));
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
    const { handle, ...representation } = preferred(acceptOf(url, headers), representations);
    const early = representation.whileStarting ?? whileStarting;
    return { name: representation.name, handle, whileStarting: early, storesByGet, params };
  }

  /** Of a path as it is written in its route. */
  simplePostRoute(path: string): SimplePostRoute<App> | undefined {
    return this.#simplePosts.get(path);
  }

  /** Returns the name of what answers the request. */
  dispatch(app: App, request: IncomingMessage, response: ServerResponse): RouteName {
    const reading = readQuery(request, this.#namesAt(request));
    if (reading === undefined) return this.#run(app, request, response);
    void reading.then(() => {
      if (!response.destroyed) this.#run(app, request, response);
    });
    return this.match(request)?.name ?? NO_ROUTE;
  }

  #run(app: App, request: IncomingMessage, response: ServerResponse): RouteName {
    const match = this.match(request);
    const context = { app, request, response, params: match?.params ?? {} };
    runHandler(match?.handle ?? this.#sendUnmatched, context);
    return match?.name ?? NO_ROUTE;
  }

  /** The parameters that mean something there. What a `GET` stores has any names. */
  #namesAt({ method = '', url = '' }: IncomingMessage): ReadonlySet<string> {
    const isStoring = url.includes('?') && this.#find(method, url)?.route.storesByGet === true;
    return isStoring ? STORING_NAMES : this.#check.names;
  }

  /** The methods that a path takes; empty if there is no such path. */
  methodsAt(url: string): readonly string[] {
    const { route } = this.#find('GET', url) ?? {};
    if (route === undefined) return [];
    return ['GET', 'HEAD', ...(route.post === undefined ? [] : ['POST']), 'OPTIONS'];
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

const STORING_NAMES: ReadonlySet<string> = new Set(['as', 'format', 'idempotency-key']);
const READS: HTTPMethod[] = ['GET', 'HEAD'];

function isRoutable(method: string): method is 'GET' | 'HEAD' | 'POST' {
  return method === 'GET' || method === 'HEAD' || method === 'POST';
}

/** One route for each path, in the order in which the doors list them. */
function merge<App extends StartupContext>(
  doors: Readonly<Record<string, Door<App>>>,
): MergedRoute<App>[] {
  const byPath = new Map<string, MergedRoute<App>>();
  for (const [door, { routes }] of Object.entries(doors)) {
    for (const { path, get, ...others } of routes) {
      const merged = byPath.get(path) ?? { path, representations: [] };
      byPath.set(path, merged);
      const name = { path, door };
      merged.representations.push(...get.map((one) => ({ ...one, name })));
      Object.assign(merged, others, others.post && { postName: name });
    }
  }
  return [...byPath.values()];
}

function observed<App extends StartupContext>(
  representation: NamedRepresentation<App>,
  onRead: (context: RequestContext<App>) => Promise<void> | undefined,
): NamedRepresentation<App> {
  const { type, handle } = representation;
  if (type === EVENT_STREAM) return representation;
  return {
    ...representation,
    handle(context) {
      const reading = onRead(context);
      if (reading === undefined) return handle(context);
      return reading.then(() => (isDisconnected(context) ? undefined : handle(context)));
    },
  };
}

/** Makes the handlers of a route refuse the parameters that they would not obey. */
function checkParameters<App extends StartupContext>(
  route: MergedRoute<App>,
  check: ParameterCheck,
): void {
  const { representations, post, postFromPage, postParameters, description = {} } = route;
  for (const [index, representation] of representations.entries()) {
    const taken = takenParameters(description, representation.refused);
    const { handle } = representation;
    representations[index] = { ...representation, handle: checked(handle, taken, check) };
  }
  if (post !== undefined) route.post = checked(post, postParameters, check);
  if (postFromPage !== undefined) route.postFromPage = checked(postFromPage, postParameters, check);
}

function checked<App extends StartupContext>(
  handle: Handler<App>,
  parameters: TakenParameters | undefined,
  check: ParameterCheck,
): Handler<App> {
  if (parameters === undefined) return handle;
  return (context) => {
    const checking = check.check(context.request, parameters);
    if (checking === undefined) return handleWarned(handle, context);
    return checking.then(() =>
      isDisconnected(context) ? undefined : handleWarned(handle, context),
    );
  };
}

/** In characters. Proxies refuse answers with long headers. */
const MAX_WARNING = 1000;

/** Says the notes in the header `Warning`, since some answers have no place for them in their bodies. */
function handleWarned<App extends StartupContext>(
  handle: Handler<App>,
  context: RequestContext<App>,
): void | Promise<void> {
  const notes = parameterNotes(context.request);
  if (notes.length > 0) {
    const text = notes
      .join(' ')
      .replaceAll('"', "'")
      .replaceAll(/[^ -~]/g, '?');
    const cut = text.length > MAX_WARNING ? `${text.slice(0, MAX_WARNING)}...` : text;
    context.response.setHeader('Warning', `299 - "${cut.replaceAll('\\', '\\\\')}"`);
  }
  return handle(context);
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
