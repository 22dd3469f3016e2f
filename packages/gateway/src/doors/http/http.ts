/**
 * The HTTP door: requests come in, the house is asked, answers go out.
 *
 * Owns everything that is HTTP and nothing else: it judges no body, knows no store and keeps
 * nothing but small answers that are ready to be sent again. Upholds PROTOCOL.md sections 1, 2, 8
 * and 11, and that nothing a caller sends, leaves out or breaks off harms another caller.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '@open-presence/protocol';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

import { grammarOf } from '../../intake/grammar.ts';
import type { Exchange, Handler, House, Threshold } from './exchange.ts';
import { editionOf } from './language.ts';
import { answerMalformed } from './malformed.ts';
import { fault, problem } from './problem.ts';
import { ReadyAnswers } from './ready.ts';
import { elsewhere, ROUTES } from './routes.ts';
import { hasHost, HttpServer, originForm } from './server.ts';
import { healthz, readyz, status } from './status.ts';

export interface Place {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
}

/** What the door needs of a house that is awake; the rest follows from it. */
export type HouseParts = Pick<House, 'language' | 'text' | 'log' | 'report' | 'state'>;

export function houseOf(parts: HouseParts): House {
  return {
    ...parts,
    grammar: grammarOf(parts.language),
    edition: editionOf(parts.text),
    ready: new ReadyAnswers(),
  };
}

type Receive = (request: IncomingMessage, response: ServerResponse) => void;

export class HttpDoor implements AsyncDisposable {
  readonly #threshold: Threshold;
  readonly #server: HttpServer;
  #receive: Receive;
  #app: FastifyInstance | undefined;

  private constructor(threshold: Threshold) {
    this.#threshold = threshold;
    this.#receive = (request, response) => {
      run(beforeWaking, { house: threshold, request, response, params: {} });
    };
    this.#server = new HttpServer({
      request: (request, response) => this.#enter(request, response),
      malformed: (error, socket) => answerMalformed(error, socket, threshold.language),
    });
  }

  /** Listens. Until `open`, visitors are told that the house is waking. */
  static async listen(place: Place, threshold: Threshold): Promise<HttpDoor> {
    const door = new HttpDoor(threshold);
    await door.#server.listen(place.host, place.port);
    return door;
  }

  /** `http://127.0.0.1:7410` */
  get address(): string {
    const { address, family, port } = this.#server.address;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Lets visitors into the house. */
  async open(house: House): Promise<void> {
    const app = appOf(house);
    this.#app = app;
    await app.ready();
    this.#receive = (request, response) => app.routing(request, response);
  }

  /** Lets nobody in any more; resolves when those who are in have left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    await this.#app?.close();
  }

  #enter(request: IncomingMessage, response: ServerResponse): void {
    if (!hasHost(request)) {
      run(withoutHost, { house: this.#threshold, request, response, params: {} });
      return;
    }
    if (request.url?.startsWith('/') !== true) request.url = originForm(request.url ?? '');
    this.#receive(request, response);
  }
}

/** Bodies are ours: Fastify routes, and neither reads nor refuses them. */
const WITH_BODIES = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'];

function appOf(house: House): FastifyInstance {
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    genReqId: () => '',
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: Number.MAX_SAFE_INTEGER,
      querystringParser: () => ({}),
    },
    // A path that cannot be decoded names nothing.
    frameworkErrors: (_, { raw: request }, reply) => {
      reply.hijack();
      run(elsewhere, { house, request, response: reply.raw, params: {} });
    },
  });
  for (const method of WITH_BODIES) app.addHttpMethod(method, { overrideExisting: true });
  for (const { path, get, post } of ROUTES) {
    const url = path.replace(/\{(\w+)\}/g, ':$1');
    app.route<Params>({ method: ['GET', 'HEAD'], url, handler: handled(house, get) });
    if (post !== undefined)
      app.route<Params>({ method: 'POST', url, handler: handled(house, post) });
  }
  app.setNotFoundHandler(handled(house, elsewhere));
  return app;
}

type Params = { Params: Record<string, string> };

/** A handler writes its answer itself: constant headers, and bytes that are ready. */
function handled(
  house: House,
  handler: Handler,
): (request: FastifyRequest<Params>, reply: FastifyReply) => void {
  return (request, reply) => {
    reply.hijack();
    run(handler, { house, request: request.raw, response: reply.raw, params: request.params });
  };
}

function run<Place extends Threshold>(
  handler: (exchange: Exchange<Place>) => void | Promise<void>,
  exchange: Exchange<Place>,
): void {
  try {
    handler(exchange)?.catch((error: unknown) => fault(exchange, error));
  } catch (error) {
    fault(exchange, error);
  }
}

function beforeWaking(exchange: Exchange<Threshold>): Promise<void> {
  switch (exchange.request.url?.replace(/\/?(?:\?.*)?$/, '')) {
    case '':
    case '/api':
      return status(exchange);
    case '/healthz':
      return healthz(exchange);
    case '/readyz':
      return readyz(exchange);
    default:
      return problem(exchange, new GatewayError('unavailable', WAKING));
  }
}

const WAKING = 'Cannot answer yet: the gateway is reading its log. Ask again in a moment.';

function withoutHost(exchange: Exchange<Threshold>): Promise<void> {
  const detail = 'must be given once, with the name or address of the gateway';
  const error = new GatewayError(
    'invalid-parameter',
    `Cannot read the request as HTTP/1.1: "Host" ${detail}.`,
    { faults: [{ parameter: 'Host', detail }] },
  );
  return problem(exchange, error);
}
