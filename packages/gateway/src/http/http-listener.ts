/**
 * The HTTP listener: accepts requests while the gateway starts, serves and stops.
 *
 * Owns the responses before the log is open; later requests go to the router. Refuses to know
 * resources and stores. Upholds PROTOCOL.md sections 1, 2 and 11, and that nothing one caller sends,
 * omits or aborts affects another.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '@open-presence/protocol';

import type { HttpContext, HttpServices, RequestContext, StartupContext } from './context.ts';
import { EventStreams } from './event-stream.ts';
import { respondToMalformed } from './malformed-request.ts';
import { sendProblem } from './problem.ts';
import { ResponseCache } from './response-cache.ts';
import { runHandler, type Router } from './router.ts';
import { Shutdown } from './shutdown.ts';
import { hasValidHost, HttpServer, originForm, type ListenOptions } from './server.ts';

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

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
  /** Requests for event streams that wait until the log is open. */
  #earlyStreams: EarlyRequest[] = [];

  private constructor(startup: StartupContext, router: Router<App>) {
    this.#startup = startup;
    this.#router = router;
    this.#server = new HttpServer({
      request: (request, response) => this.#receive(request, response),
      malformed: (error, socket) => respondToMalformed(error, socket, startup.language, router),
    });
  }

  /** Listens. Until `open`, requests for event streams wait and others get a 503 or the status. */
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
    for (const { request, response } of this.#earlyStreams.splice(0)) {
      this.#router.dispatch(app, request, response);
    }
  }

  /** Stops accepting; resolves when all requests in progress are finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#shutdown.start();
    this.#eventStreams.close();
    // Readers of event streams reconnect by themselves.
    for (const { response } of this.#earlyStreams.splice(0)) response.destroy();
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
    const match = this.#router.match(request);
    // A browser does not reconnect after an error.
    if (match?.isStream === true) this.#earlyStreams.push({ request, response });
    else {
      const handler = match?.whileStarting ?? sendStarting;
      runHandler(handler, { app: this.#startup, request, response, params: {} });
    }
  }
}

const STARTING = 'Cannot answer yet: the gateway is reading its log. Try again in a moment.';

function sendStarting(context: RequestContext<StartupContext>): Promise<void> {
  return sendProblem(context, new GatewayError('unavailable', STARTING));
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
