/**
 * From a request to the handler that answers it: by path, by method, and by the media type that the
 * caller prefers.
 *
 * Owns `HEAD`, `OPTIONS`, 404 and 405 for every path; refuses to know what any path serves. Upholds
 * that a fault of one handler is answered and reported, and never reaches another request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError, quoted } from '@open-presence/protocol';
import FindMyWay from 'find-my-way';

import { COMMON_HEADERS } from './headers.ts';
import type { Handler, RequestContext, RouteSummary, StartupContext } from './context.ts';
import { preferred, type Offer } from './negotiation.ts';
import { sendError, sendProblem } from './problem.ts';

export const EVENT_STREAM = 'text/event-stream';

/** One of the media types in which a path answers `GET`. */
export interface Representation<App extends StartupContext> extends Offer {
  readonly handle: Handler<App>;
}

/** What a path takes. Several doors may give representations of the same path. */
interface Route<App extends StartupContext> {
  /** With variable parts in braces. */
  readonly path: string;
  readonly get?: Handler<App> | readonly Representation<App>[];
  readonly post?: Handler<App>;
  /** Answers any request for this path while the log is not open yet. */
  readonly whileStarting?: Handler<StartupContext>;
}

/** The paths of one protocol. */
export interface Door<App extends StartupContext> {
  readonly routes: readonly Route<App>[];
  /** Answers, in the door's own form, for paths below a prefix that are not there. */
  readonly notFound?: { readonly prefix: string; readonly handle: Handler<App> };
}

/** A route with the representations of all doors. */
interface MergedRoute<App extends StartupContext> {
  readonly path: string;
  readonly representations: Representation<App>[];
  post?: Handler<App>;
  whileStarting?: Handler<StartupContext>;
}

export interface Match<App extends StartupContext> {
  readonly handle: Handler<App>;
  readonly whileStarting: Handler<StartupContext> | undefined;
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Whether this reads, and ends with its answer. */
  readonly isRead: boolean;
  /** Whether the answer is an event stream. */
  readonly isStream: boolean;
}

export class Router<App extends StartupContext> {
  readonly #doors: readonly Door<App>[];
  readonly #routes: readonly MergedRoute<App>[];
  /** The router's own handlers do nothing: they stand for routes. */
  readonly #byHandler = new Map<unknown, MergedRoute<App>>();
  readonly #onRead: (context: RequestContext<App>) => void;
  readonly #finder = FindMyWay({
    ignoreTrailingSlash: true,
    maxParamLength: Number.MAX_SAFE_INTEGER,
    querystringParser: () => ({}),
  });

  /** `onRead` is called before each answer to `GET` that is not an event stream. */
  constructor(doors: readonly Door<App>[], onRead: (context: RequestContext<App>) => void) {
    this.#doors = doors;
    this.#routes = merge(doors);
    this.#onRead = onRead;
    for (const route of this.#routes) {
      const url = route.path.replaceAll(':', '::').replace(/\{(\w+)\}/g, ':$1');
      const matched = (): void => {};
      this.#byHandler.set(matched, route);
      for (const method of route.post === undefined ? READS : [...READS, 'POST' as const]) {
        this.#finder.on(method, url, matched);
      }
    }
  }

  get routes(): readonly RouteSummary[] {
    return this.#routes.map(({ path, post }) => {
      return { path, methods: post === undefined ? ['GET'] : ['GET', 'POST'] };
    });
  }

  /** What answers this request; undefined where there is no such path, or not with this method. */
  match({ method = '', url = '', headers }: IncomingMessage): Match<App> | undefined {
    const found = this.#find(method, url);
    if (found === undefined) return undefined;
    const { route, params } = found;
    const { post, representations, whileStarting } = route;
    if (method === 'POST' && post !== undefined) {
      return { handle: post, whileStarting, params, isRead: false, isStream: false };
    }
    const chosen = preferred(headers.accept, representations);
    const streams = chosen.type === EVENT_STREAM;
    return { handle: chosen.handle, whileStarting, params, isRead: !streams, isStream: streams };
  }

  dispatch(app: App, request: IncomingMessage, response: ServerResponse): void {
    const match = this.match(request);
    if (match === undefined) {
      runHandler((context) => this.#unmatched(context), { app, request, response, params: {} });
      return;
    }
    const context = { app, request, response, params: match.params };
    runHandler((one) => {
      if (match.isRead) this.#onRead(one);
      return match.handle(one);
    }, context);
  }

  /** The methods that a path takes; none where there is no such path. */
  methodsAt(url: string): readonly string[] {
    const { route } = this.#find('GET', url) ?? {};
    if (route === undefined) return [];
    return ['GET', 'HEAD', ...(route.post === undefined ? [] : ['POST']), 'OPTIONS'];
  }

  notFound(url: string): GatewayError {
    const known = this.#routes.map(({ path }) => path);
    const detail = `Cannot find ${quoted(url)}: there is no such path. The paths are ${known.join(', ')}.`;
    return new GatewayError('not-found', detail, { known });
  }

  #find(method: string, url: string): { route: MergedRoute<App>; params: Params } | undefined {
    if (!isMethod(method)) return undefined;
    const found = this.#finder.find(method, url);
    // A path that cannot be decoded names nothing.
    const route = found === null ? undefined : this.#byHandler.get(found.handler);
    return found === null || route === undefined ? undefined : { route, params: found.params };
  }

  /** Answers `OPTIONS`, other methods and other paths. */
  #unmatched(context: RequestContext<App>): void | Promise<void> {
    const { method = '', url = '' } = context.request;
    const methods = this.methodsAt(url);
    if (method === 'OPTIONS') return sendOptions(context, methods);
    if (methods.length > 0) {
      const headers = { Allow: methods.join(', ') };
      return sendProblem(context, methodNotAllowed(method, url, methods), headers);
    }
    const own = this.#doors.find(({ notFound }) => notFound && url.startsWith(notFound.prefix));
    if (own?.notFound !== undefined) return own.notFound.handle(context);
    return sendProblem(context, this.notFound(url));
  }
}

type Params = Readonly<Record<string, string | undefined>>;

const READS = ['GET', 'HEAD'] as const;

function isMethod(method: string): method is 'GET' | 'HEAD' | 'POST' {
  return method === 'GET' || method === 'HEAD' || method === 'POST';
}

/** One route for each path, in the order in which the doors name them. */
function merge<App extends StartupContext>(doors: readonly Door<App>[]): MergedRoute<App>[] {
  const byPath = new Map<string, MergedRoute<App>>();
  for (const { path, get = [], post, whileStarting } of doors.flatMap(({ routes }) => routes)) {
    const merged = byPath.get(path) ?? { path, representations: [] };
    byPath.set(path, merged);
    const representations = typeof get === 'function' ? [{ type: '', handle: get }] : get;
    merged.representations.push(...representations);
    if (post !== undefined) merged.post = post;
    if (whileStarting !== undefined) merged.whileStarting = whileStarting;
  }
  return [...byPath.values()];
}

/** Runs a handler; what it throws is answered, and reported where it is a fault of ours. */
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

export function methodNotAllowed(
  method: string,
  url: string,
  methods: readonly string[],
): GatewayError {
  const detail = `Cannot ${method} ${quoted(url)}: this path accepts ${methods.join(', ')}.`;
  return new GatewayError('method-not-allowed', detail, { known: methods });
}

/** A day: what a path takes changes with the gateway's version only. */
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
    // Any method: one that the path does not take is answered by a 405 that a page can read.
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
