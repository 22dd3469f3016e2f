/**
 * The HTTP door: requests come in, the app is asked, answers go out.
 *
 * Owns everything that is HTTP and nothing else: it judges no body, knows no store and keeps
 * nothing but small answers that are ready to be sent again. Upholds PROTOCOL.md sections 1, 2, 8
 * and 11, and that nothing a caller sends, leaves out or breaks off harms another caller.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '@open-presence/protocol';
import Router from 'find-my-way';

import { createGrammar } from '../intake/grammar.ts';
import { RecentAuthors } from '../presence/recent-authors.ts';
import type { RequestContext, Handler, AppContext, StartupContext } from './context.ts';
import { EventStreams } from './event-stream.ts';
import { FanOut } from '../doors/rest/fan-out.ts';
import { hashOf } from '../doors/rest/language.ts';
import { answerMalformed } from './malformed-request.ts';
import { isEventStream, readerOf } from '../doors/rest/presence.ts';
import { fault, problem } from './problem.ts';
import { ResponseCache } from './response-cache.ts';
import { elsewhere, ROUTES } from '../routes.ts';
import { hasHost, HttpServer, originForm } from './server.ts';
import { healthz, readyz, status } from '../doors/rest/status.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Whether other threads listen there too. */
  readonly shared: boolean;
  /** Connections at most: more would take the descriptors that the store needs. */
  readonly most: number;
}

/** What the door needs of a app that is awake; the rest follows from it. */
export type AppParts = Pick<
  AppContext,
  'language' | 'text' | 'log' | 'report' | 'publicUrl' | 'state' | 'presence'
>;

/** A app before it is known where its door is. */
export type UnboundAppContext = Omit<AppContext, 'loopback'>;

export function appContextOf(parts: AppParts): UnboundAppContext {
  // What was cut out of a text with Cyrillic letters in it has two bytes for each of its own, and
  // would make so of every answer that says it: a slug's way into each new entry.
  const respelled: unknown = JSON.parse(JSON.stringify(parts.language));
  const language = Object.assign({ ...parts.language }, respelled);
  return {
    ...parts,
    language,
    grammar: createGrammar(language),
    languageHash: hashOf(parts.text),
    responseCache: new ResponseCache(),
    recentAuthors: new RecentAuthors(parts.log),
    eventStreams: new EventStreams(),
    fanOut: new FanOut(parts.log),
  };
}

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

type Receive = (request: IncomingMessage, response: ServerResponse) => void;

export class HttpListener implements AsyncDisposable {
  readonly #startup: StartupContext;
  readonly #server: HttpServer;
  #receive: Receive;
  #streams: EventStreams | undefined;
  /** Readers of events who wait for the app to wake. */
  #early: { readonly request: IncomingMessage; readonly response: ServerResponse }[] = [];

  private constructor(startup: StartupContext) {
    this.#startup = startup;
    this.#receive = (request, response) => {
      // A reader of events who is answered with an error never comes back.
      if (isEventStream(request)) this.#early.push({ request, response });
      else run(beforeWaking, { app: startup, request, response, params: {} });
    };
    this.#server = new HttpServer({
      request: (request, response) => this.#enter(request, response),
      malformed: (error, socket) => answerMalformed(error, socket, startup.language),
    });
  }

  /** Listens. Until `open`, visitors are told that the app is waking; readers of events wait. */
  static async listen(place: ListenOptions, startup: StartupContext): Promise<HttpListener> {
    const door = new HttpListener(startup);
    await door.#server.listen(place);
    return door;
  }

  /** `http://127.0.0.1:7410` */
  get address(): string {
    const { address, family, port } = this.#server.address;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Lets visitors into the app. */
  open(app: UnboundAppContext): void {
    this.#streams = app.eventStreams;
    const loopback = LOOPBACK.test(this.#server.address.address);
    this.#receive = routerOf({ ...app, loopback });
    for (const { request, response } of this.#early.splice(0)) this.#receive(request, response);
  }

  /** Lets nobody in any more; resolves when those who are in have left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#streams?.rest();
    // They come again, to a app that wakes.
    for (const { response } of this.#early.splice(0)) response.destroy();
    await this.#server[Symbol.asyncDispose]();
  }

  #enter(request: IncomingMessage, response: ServerResponse): void {
    if (!hasHost(request)) {
      run(withoutHost, { app: this.#startup, request, response, params: {} });
      return;
    }
    if (request.url?.startsWith('/') !== true) request.url = originForm(request.url ?? '');
    this.#receive(request, response);
  }
}

function routerOf(app: AppContext): Receive {
  const elsewhereIn: Receive = (request, response) => {
    run(elsewhere, { app, request, response, params: {} });
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
    router.on(['GET', 'HEAD'], url, handled(app, greeted(get)));
    if (post !== undefined) router.on('POST', url, handled(app, post));
  }
  return (request, response) => void router.lookup(request, response);
}

function handled(app: AppContext, handler: Handler): Router.Handler<Router.HTTPVersion.V1> {
  return (request, response, params) => run(handler, { app, request, response, params });
}

/** A reader who says who it is becomes present. */
function greeted(handler: Handler): Handler {
  return (context) => {
    const reader = readerOf(context);
    if (reader !== undefined && !isEventStream(context.request)) {
      context.app.presence.recordRequest(reader);
    }
    return handler(context);
  };
}

function run<Place extends StartupContext>(
  handler: (context: RequestContext<Place>) => void | Promise<void>,
  context: RequestContext<Place>,
): void {
  try {
    handler(context)?.catch((error: unknown) => fault(context, error));
  } catch (error) {
    fault(context, error);
  }
}

function beforeWaking(context: RequestContext<StartupContext>): Promise<void> {
  switch (context.request.url?.replace(/\/?(?:\?.*)?$/, '')) {
    case '':
    case '/api':
      return status(context);
    case '/healthz':
      return healthz(context);
    case '/readyz':
      return readyz(context);
    default:
      return problem(context, new GatewayError('unavailable', WAKING));
  }
}

const WAKING = 'Cannot answer yet: the gateway is reading its log. Ask again in a moment.';

function withoutHost(context: RequestContext<StartupContext>): Promise<void> {
  const detail = 'must be given once, with the name or address of the gateway';
  const error = new GatewayError(
    'invalid-parameter',
    `Cannot read the request as HTTP/1.1: "Host" ${detail}.`,
    { faults: [{ parameter: 'Host', detail }] },
  );
  return problem(context, error);
}
