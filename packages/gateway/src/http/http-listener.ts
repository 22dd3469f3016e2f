/**
 * The HTTP front: accepts requests while the gateway starts, serves and stops.
 *
 * Owns what is answered before the log is open; what comes then goes to the router. Knows no
 * resource and no store. Upholds PROTOCOL.md sections 1, 2 and 11, and that nothing a caller sends,
 * leaves out or breaks off harms another caller.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '@open-presence/protocol';

import type { HttpContext, HttpServices, RequestContext, StartupContext } from './context.ts';
import { EventStreams } from './event-stream.ts';
import { respondToMalformed } from './malformed-request.ts';
import { sendProblem } from './problem.ts';
import { ResponseCache } from './response-cache.ts';
import { runHandler, type Router } from './router.ts';
import { hasHost, HttpServer, originForm, type ListenOptions } from './server.ts';

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

interface HeldRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export class HttpListener<App extends HttpContext> implements AsyncDisposable {
  readonly #startup: StartupContext;
  readonly #router: Router<App>;
  readonly #server: HttpServer;
  readonly #eventStreams = new EventStreams();
  #app: App | undefined;
  /** Readers of event streams who came before the log was open. */
  #held: HeldRequest[] = [];

  private constructor(startup: StartupContext, router: Router<App>) {
    this.#startup = startup;
    this.#router = router;
    this.#server = new HttpServer({
      request: (request, response) => this.#receive(request, response),
      malformed: (error, socket) => respondToMalformed(error, socket, startup.language, router),
    });
  }

  /** Listens. Until `open`, callers are told that the gateway starts; readers of streams wait. */
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

  /** Serves from now on. */
  open(contextWith: (services: HttpServices) => App): void {
    const app = contextWith({
      responseCache: new ResponseCache(),
      eventStreams: this.#eventStreams,
      shutdown: this.#eventStreams.shutdown,
      loopback: LOOPBACK.test(this.#server.address.address),
      routes: this.#router.routes,
    });
    this.#app = app;
    for (const { request, response } of this.#held.splice(0)) {
      this.#router.dispatch(app, request, response);
    }
  }

  /** Accepts nobody any more; resolves when all that was under way is finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#eventStreams.close();
    // Readers of streams come back by themselves.
    for (const { response } of this.#held.splice(0)) response.destroy();
    await this.#server[Symbol.asyncDispose]();
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    if (!hasHost(request)) {
      runHandler(withoutHost, { app: this.#startup, request, response, params: {} });
      return;
    }
    if (request.url?.startsWith('/') !== true) request.url = originForm(request.url ?? '');
    if (this.#app === undefined) this.#receiveEarly(request, response);
    else this.#router.dispatch(this.#app, request, response);
  }

  #receiveEarly(request: IncomingMessage, response: ServerResponse): void {
    const match = this.#router.match(request);
    // A browser that is answered with an error never opens the stream again.
    if (match?.isStream === true) this.#held.push({ request, response });
    else {
      const handler = match?.whileStarting ?? notYet;
      runHandler(handler, { app: this.#startup, request, response, params: {} });
    }
  }
}

const STARTING = 'Cannot answer yet: the gateway is reading its log. Try again in a moment.';

function notYet(context: RequestContext<StartupContext>): Promise<void> {
  return sendProblem(context, new GatewayError('unavailable', STARTING));
}

function withoutHost(context: RequestContext<StartupContext>): Promise<void> {
  const detail = 'must be given once, with the name or address of the gateway';
  const error = new GatewayError(
    'invalid-parameter',
    `Cannot read the request as HTTP/1.1: "Host" ${detail}.`,
    { faults: [{ parameter: 'Host', detail }] },
  );
  return sendProblem(context, error);
}
