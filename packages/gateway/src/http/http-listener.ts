/**
 * The HTTP listener: accepts requests while the gateway starts, serves and stops.
 *
 * Owns the requests that arrive before the log is open: the status and the probes are answered, and
 * the others wait without being read. Later requests go to the router. Refuses to know resources and
 * stores. Upholds PROTOCOL.md sections 1, 2 and 11, and that nothing one caller sends, omits or aborts
 * affects another.
 *
 * Invariant: A graceful stop finishes what is under way, and waits for nothing else.
 * Test: `packages/gateway/src/http/http-listener.test.ts` “shutdown finishes requests in progress
 *   and closes idle connections”
 * Test: `packages/gateway/src/http/fast/lane.test.ts` “does not wait for a head that is not
 *   complete, or a body that does not move”
 *
 * Invariant: A request that arrives while the gateway starts is answered, not refused.
 * Test: `packages/gateway/src/http/http-listener.test.ts` “what is requested before the log is open
 *   is answered once it is open”
 * Test: `packages/cli/src/start.test.ts` “that takes long listens meanwhile, and answers what was
 *   requested when it is done”
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '@open-presence/protocol';

import type { HttpContext, HttpServices, RequestContext, StartupContext } from './context.ts';
import { EventStreams } from './response/event-stream.ts';
import { foreignPageFault, isOwnHost, sendForeignPage } from './foreign-page.ts';
import { respondToMalformed } from './connection/malformed-request.ts';
import { RepeatedGets } from './fast/repeated-gets.ts';
import { NO_ROUTE, type RequestObserver, type RouteName } from './request-observer.ts';
import { sendError, sendProblem } from './response/problem.ts';
import { ResponseCache } from './response/response-cache.ts';
import { runHandler, type Router } from './router.ts';
import { Shutdown } from './connection/shutdown.ts';
import type { FastPost, FastPostResponder } from './fast/fast-post.ts';
import { hasValidHost, HttpServer, originForm, type ListenOptions } from './connection/server.ts';

const NOT_ACCEPTING = 'connections cannot be accepted now; those that are open go on';
const ACCEPTING = 'connections are accepted again';

export interface HttpUsage {
  readonly connections: number;
  readonly streams: number;
  readonly stalledStreams: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

export class HttpListener<App extends HttpContext> implements AsyncDisposable {
  #startup: StartupContext;
  readonly #router: Router<App>;
  readonly #server: HttpServer;
  readonly #eventStreams = new EventStreams((response, closed) =>
    this.#server.detach(response, closed),
  );
  #repeatedGets = new RepeatedGets();
  readonly #shutdown = new Shutdown();
  #app: App | undefined;
  /** Whether only this machine can reach it, so that pages of other sites must not. */
  #refusesForeignPages = false;
  /** Requests that wait until the log is open. */
  readonly #earlyRequests = new Map<ServerResponse, IncomingMessage>();

  private constructor(
    startup: StartupContext,
    router: Router<App>,
    observe: RequestObserver | undefined,
  ) {
    this.#startup = startup;
    this.#router = router;
    this.#server = new HttpServer({
      request: (request, response) => this.#receive(request, response),
      fastPost: (post, responder) => this.#receiveFast(post, responder),
      repeatedGet: (head) => this.#repeatedGets.get(head),
      remember: (head, received, route) => this.#repeatedGets.remember(head, received, route),
      finished:
        observe &&
        ((request, socket) => {
          observe({ ...request, isStream: this.#eventStreams.has(socket) });
        }),
      acceptChanged: (error) =>
        startup.report.error(
          error === undefined ? {} : { err: error },
          error === undefined ? ACCEPTING : NOT_ACCEPTING,
        ),
      malformed: (error, socket) =>
        respondToMalformed(error, socket, this.#startup.language, router),
    });
  }

  /**
   * Listens. Until `open`, all requests but those for the status and the probes wait. `observe` is
   * called with each request when its response has ended.
   */
  static async listen<App extends HttpContext>(
    options: ListenOptions,
    startup: StartupContext,
    router: Router<App>,
    observe?: RequestObserver,
  ): Promise<HttpListener<App>> {
    const listener = new HttpListener(startup, router, observe);
    await listener.#server.listen(options);
    listener.#use(startup);
    return listener;
  }

  /** `http://127.0.0.1:7410`, or `unix:PATH` or `fd:0` for a UNIX socket. */
  get address(): string {
    return this.#server.address;
  }

  /** What is open now, and the bytes of all connections until now. */
  usage(): HttpUsage {
    const { openCount: streams, stalledCount: stalledStreams } = this.#eventStreams;
    return { ...this.#server.traffic(), streams, stalledStreams };
  }

  /**
   * Serves requests from now on. Called again, it gives later requests another context, with empty caches;
   * those in progress, event streams among them, go on with theirs.
   */
  open(createContext: (services: HttpServices) => App): void {
    this.#repeatedGets = new RepeatedGets();
    const app = createContext({
      responseCache: new ResponseCache(),
      repeatedGets: this.#repeatedGets,
      eventStreams: this.#eventStreams,
      shutdown: this.#shutdown,
      routes: this.#router.routes,
    });
    this.#app = app;
    this.#use(app);
    for (const [response, request] of this.#earlyRequests) {
      this.#router.dispatch(app, request, response);
    }
    this.#earlyRequests.clear();
  }

  #use(startup: StartupContext): void {
    this.#startup = startup;
    this.#refusesForeignPages = startup.publicUrl === undefined && this.#server.isLoopback;
  }

  /** Stops accepting; resolves when all requests in progress are finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#shutdown.start();
    this.#eventStreams.close();
    // The log has not been opened: nothing was read, so nothing is lost.
    for (const response of this.#earlyRequests.keys()) response.destroy();
    await this.#server[Symbol.asyncDispose]();
  }

  #receive(request: IncomingMessage, response: ServerResponse): RouteName {
    if (!hasValidHost(request)) {
      runHandler(sendInvalidHost, { app: this.#startup, request, response, params: {} });
      return NO_ROUTE;
    }
    if (!/^\/(?!\/)/.test(request.url ?? '')) request.url = originForm(request.url ?? '');
    if (this.#refusesForeignPages) {
      const { name = NO_ROUTE, storesByGet = false } = this.#router.match(request) ?? {};
      const fault = foreignPageFault(request, storesByGet);
      if (fault !== undefined) {
        const context = { app: this.#startup, request, response, params: {} };
        runHandler(() => sendForeignPage(context, fault), context);
        return name;
      }
    }
    if (this.#app === undefined) return this.#receiveEarly(request, response);
    return this.#router.dispatch(this.#app, request, response);
  }

  #receiveFast(post: FastPost, responder: FastPostResponder): RouteName | undefined {
    const app = this.#app;
    if (this.#refusesForeignPages && (post.isFromPage || !isOwnHost(post.host))) return undefined;
    const { name, handle } = this.#router.fastPostRoute(post.path) ?? {};
    if (app === undefined || handle === undefined) return undefined;
    try {
      return handle(app, post, responder) ? name : undefined;
    } catch (error) {
      responder.handOver((request, response) =>
        sendError({ app, request, response, params: {} }, error),
      );
      return name;
    }
  }

  #receiveEarly(request: IncomingMessage, response: ServerResponse): RouteName {
    const { name = NO_ROUTE, whileStarting } = this.#router.match(request) ?? {};
    if (whileStarting !== undefined) {
      runHandler(whileStarting, { app: this.#startup, request, response, params: {} });
      return name;
    }
    this.#earlyRequests.set(response, request);
    response.once('close', () => this.#earlyRequests.delete(response));
    return name;
  }
}

function sendInvalidHost(context: RequestContext<StartupContext>): Promise<void> {
  const detail = 'must be given once, with the name or address of the gateway';
  const error = new GatewayError(
    'invalid-parameter',
    `Cannot read the request as HTTP/1.1: "Host" ${detail}.`,
    { faults: [{ parameter: 'Host', detail }] },
  );
  return sendProblem(context, error);
}
