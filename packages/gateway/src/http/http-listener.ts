/**
 * The HTTP listener: accepts requests while the gateway starts, serves and stops.
 *
 * Owns the requests that arrive before the log is open: the status and the probes are answered, and
 * the others wait without being read. Later requests go to the router. Refuses to know resources and
 * stores. Upholds PROTOCOL.md sections 1, 2 and 11, and that nothing one caller sends, omits or aborts
 * affects another.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '@open-presence/protocol';

import type { HttpContext, HttpServices, RequestContext, StartupContext } from './context.ts';
import { EventStreams } from './response/event-stream.ts';
import { respondToMalformed } from './malformed-request.ts';
import { sendProblem } from './response/problem.ts';
import { ResponseCache } from './response/response-cache.ts';
import { runHandler, type Router } from './router.ts';
import { Shutdown } from './shutdown.ts';
import { hasValidHost, HttpServer, originForm, type ListenOptions } from './server.ts';

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

const NOT_ACCEPTING = 'connections cannot be accepted now; those that are open go on';
const ACCEPTING = 'connections are accepted again';

interface EarlyRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export class HttpListener<App extends HttpContext> implements AsyncDisposable {
  readonly #startup: StartupContext;
  readonly #router: Router<App>;
  readonly #server: HttpServer;
  readonly #eventStreams = new EventStreams();
  readonly #shutdown = new Shutdown();
  #app: App | undefined;
  /** Requests that wait until the log is open. */
  readonly #earlyRequests = new Set<EarlyRequest>();

  private constructor(startup: StartupContext, router: Router<App>) {
    this.#startup = startup;
    this.#router = router;
    this.#server = new HttpServer({
      request: (request, response) => this.#receive(request, response),
      acceptChanged: (error) =>
        startup.report.error(
          error === undefined ? {} : { err: error },
          error === undefined ? ACCEPTING : NOT_ACCEPTING,
        ),
      malformed(error, socket) {
        void respondToMalformed(error, socket, startup.language, router);
      },
    });
  }

  /** Listens. Until `open`, all requests but those for the status and the probes wait. */
  static async listen<App extends HttpContext>(
    options: ListenOptions,
    startup: StartupContext,
    router: Router<App>,
  ): Promise<HttpListener<App>> {
    const listener = new HttpListener(startup, router);
    await listener.#server.listen(options);
    return listener;
  }

  /** `http://127.0.0.1:7410` */
  get address(): string {
    const { address, family, port } = this.#server.address;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Serves requests from now on. */
  open(createContext: (services: HttpServices) => App): void {
    const app = createContext({
      responseCache: new ResponseCache(),
      eventStreams: this.#eventStreams,
      shutdown: this.#shutdown,
      loopback: LOOPBACK.test(this.#server.address.address),
      routes: this.#router.routes,
      describeDoors: () => this.#router.describeDoors(),
    });
    this.#app = app;
    for (const { request, response } of this.#earlyRequests) {
      this.#router.dispatch(app, request, response);
    }
    this.#earlyRequests.clear();
  }

  /** Stops accepting; resolves when all requests in progress are finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#shutdown.start();
    this.#eventStreams.close();
    // The log has not been opened: nothing was read, so nothing is lost.
    for (const { response } of this.#earlyRequests) response.destroy();
    await this.#server[Symbol.asyncDispose]();
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    if (!hasValidHost(request)) {
      runHandler(sendInvalidHost, { app: this.#startup, request, response, params: {} });
      return;
    }
    if (request.url?.startsWith('/') !== true) request.url = originForm(request.url ?? '');
    if (this.#app === undefined) this.#receiveEarly(request, response);
    else this.#router.dispatch(this.#app, request, response);
  }

  #receiveEarly(request: IncomingMessage, response: ServerResponse): void {
    const handler = this.#router.match(request)?.whileStarting;
    if (handler !== undefined) {
      runHandler(handler, { app: this.#startup, request, response, params: {} });
      return;
    }
    const early = { request, response };
    this.#earlyRequests.add(early);
    response.once('close', () => this.#earlyRequests.delete(early));
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
