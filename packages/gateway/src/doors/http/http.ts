/**
 * The HTTP door: requests come in, the house is asked, answers go out.
 *
 * Owns everything that is HTTP and nothing else: it judges no body, knows no store and keeps
 * nothing but small answers that are ready to be sent again. Upholds PROTOCOL.md sections 1, 2, 8
 * and 11, and that nothing a caller sends, leaves out or breaks off harms another caller.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '@open-presence/protocol';
import Router from 'find-my-way';

import { grammarOf } from '../../intake/grammar.ts';
import { Lately } from '../../presence/lately.ts';
import type { Exchange, Handler, House, Threshold } from './exchange.ts';
import { EventStreams } from './event-stream.ts';
import { Frontiers } from './frontier.ts';
import { editionOf } from './language.ts';
import { answerMalformed } from './malformed.ts';
import { isEventStream, readerOf } from './presence.ts';
import { fault, problem } from './problem.ts';
import { ReadyAnswers } from './ready.ts';
import { elsewhere, ROUTES } from './routes.ts';
import { hasHost, HttpServer, originForm } from './server.ts';
import { healthz, readyz, status } from './status.ts';

export interface Place {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Whether other threads listen there too. */
  readonly shared: boolean;
  /** Connections at most: more would take the descriptors that the store needs. */
  readonly most: number;
}

/** What the door needs of a house that is awake; the rest follows from it. */
export type HouseParts = Pick<
  House,
  'language' | 'text' | 'log' | 'report' | 'publicUrl' | 'state' | 'presence'
>;

/** A house before it is known where its door is. */
export type Furnished = Omit<House, 'loopback'>;

export function houseOf(parts: HouseParts): Furnished {
  // What was cut out of a text with Cyrillic letters in it has two bytes for each of its own, and
  // would make so of every answer that says it: a slug's way into each new entry.
  const respelled: unknown = JSON.parse(JSON.stringify(parts.language));
  const language = Object.assign({ ...parts.language }, respelled);
  return {
    ...parts,
    language,
    grammar: grammarOf(language),
    edition: editionOf(parts.text),
    ready: new ReadyAnswers(),
    lately: new Lately(parts.log),
    streams: new EventStreams(),
    frontiers: new Frontiers(parts.log),
  };
}

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

type Receive = (request: IncomingMessage, response: ServerResponse) => void;

export class HttpDoor implements AsyncDisposable {
  readonly #threshold: Threshold;
  readonly #server: HttpServer;
  #receive: Receive;
  #streams: EventStreams | undefined;
  /** Readers of events who wait for the house to wake. */
  #early: { readonly request: IncomingMessage; readonly response: ServerResponse }[] = [];

  private constructor(threshold: Threshold) {
    this.#threshold = threshold;
    this.#receive = (request, response) => {
      // A reader of events who is answered with an error never comes back.
      if (isEventStream(request)) this.#early.push({ request, response });
      else run(beforeWaking, { house: threshold, request, response, params: {} });
    };
    this.#server = new HttpServer({
      request: (request, response) => this.#enter(request, response),
      malformed: (error, socket) => answerMalformed(error, socket, threshold.language),
    });
  }

  /** Listens. Until `open`, visitors are told that the house is waking; readers of events wait. */
  static async listen(place: Place, threshold: Threshold): Promise<HttpDoor> {
    const door = new HttpDoor(threshold);
    await door.#server.listen(place);
    return door;
  }

  /** `http://127.0.0.1:7410` */
  get address(): string {
    const { address, family, port } = this.#server.address;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Lets visitors into the house. */
  open(house: Furnished): void {
    this.#streams = house.streams;
    const loopback = LOOPBACK.test(this.#server.address.address);
    this.#receive = routerOf({ ...house, loopback });
    for (const { request, response } of this.#early.splice(0)) this.#receive(request, response);
  }

  /** Lets nobody in any more; resolves when those who are in have left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#streams?.rest();
    // They come again, to a house that wakes.
    for (const { response } of this.#early.splice(0)) response.destroy();
    await this.#server[Symbol.asyncDispose]();
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

function routerOf(house: House): Receive {
  const elsewhereIn: Receive = (request, response) => {
    run(elsewhere, { house, request, response, params: {} });
  };
  const router = Router({
    ignoreTrailingSlash: true,
    maxParamLength: Number.MAX_SAFE_INTEGER,
    querystringParser: () => ({}),
    defaultRoute: elsewhereIn,
    // A path that cannot be decoded names nothing.
    onBadUrl: (_, request, response) => elsewhereIn(request, response),
  });
  for (const { path, get, post } of ROUTES) {
    const url = path.replaceAll(':', '::').replace(/\{(\w+)\}/g, ':$1');
    router.on(['GET', 'HEAD'], url, handled(house, greeted(get)));
    if (post !== undefined) router.on('POST', url, handled(house, post));
  }
  return (request, response) => void router.lookup(request, response);
}

function handled(house: House, handler: Handler): Router.Handler<Router.HTTPVersion.V1> {
  return (request, response, params) => run(handler, { house, request, response, params });
}

/** A reader who says who it is becomes present. */
function greeted(handler: Handler): Handler {
  return (exchange) => {
    const reader = readerOf(exchange);
    if (reader !== undefined && !isEventStream(exchange.request)) {
      exchange.house.presence.saw(reader);
    }
    return handler(exchange);
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
