/**
 * Passes requests to the SDK, which makes a server for each, and sends its responses. Loaded when somebody first
 * speaks MCP. Owns the conversion between Node's requests and the SDK's, and the shutdown. The SDK's own adapter
 * for Node would serialize and parse each message once more, and limit its size.
 */
import type { ServerResponse } from 'node:http';

import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type McpServer,
  type McpServerFactory,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { GatewayError, weightedList, weightIn } from '@open-presence/protocol';

import { isDisconnected } from '../../http/context.ts';
import { COMMON_HEADERS, NO_STORE } from '../../http/response/headers.ts';
import { sendProblem } from '../../http/response/problem.ts';
import { drained } from '../../http/response/response-writer.ts';
import { EVENT_STREAM } from '../../http/routing/door.ts';
import { toJsonObject } from '../../json/json-object.ts';
import { PortableSpelling, respelled } from '../../json/portable-spelling.ts';
import type { DoorContext, DoorRequest } from '../context.ts';
import { isEventStream, streamNotifications } from './events.ts';
import { ResourceUpdates } from './resource-updates.ts';
import type { McpRequest } from './tools/tool-call.ts';

/** Creates the server that handles one message; clients of legacy revisions begin with `initialize`. */
export type ServerFactory = (request: McpRequest, era: 'legacy' | 'modern') => Server | McpServer;

/** As for event streams: proxies often close connections that are silent for 30 s. */
const KEEP_ALIVE_MS = 15_000;
const LONG_POLLING_TOOLS: ReadonlySet<unknown> = new Set(['catch_up', 'wait_for_news']);
const SHUTTING_DOWN = 'Cannot answer: the gateway is shutting down. Try again in a moment.';

export class SdkHandler {
  readonly #requests = new WeakMap<Request, McpRequest>();
  readonly #createServer: ServerFactory;
  readonly #handler: McpHttpHandler;
  /** For long polling: the response is a stream from the start, so that the connection is kept alive. */
  readonly #streamingHandler: McpHttpHandler;
  /** Requests in progress, without subscriptions. */
  #active = 0;
  #isShuttingDown = false;

  constructor(app: DoorContext, createServer: ServerFactory) {
    this.#createServer = createServer;
    const factory: McpServerFactory = ({ era, requestInfo }) => {
      const request = requestInfo && this.#requests.get(requestInfo);
      if (request === undefined) throw new Error('A request that did not come through this door.');
      return createServer(request, era);
    };
    const options = {
      bus: new ResourceUpdates(app),
      maxSubscriptions: Infinity,
      keepAliveMs: KEEP_ALIVE_MS,
    };
    this.#handler = createMcpHandler(factory, options);
    this.#streamingHandler = createMcpHandler(factory, { ...options, responseMode: 'sse' });
    const { signal: shutdown } = app.shutdown;
    const shutDown = (): void => {
      this.#isShuttingDown = true;
      void this.#closeWhenIdle();
    };
    if (shutdown.aborted) shutDown();
    else shutdown.addEventListener('abort', shutDown, { once: true });
  }

  async handle(mcpRequest: McpRequest): Promise<void> {
    const { context, message } = mcpRequest;
    if (this.#isShuttingDown) {
      await sendProblem(context, new GatewayError('unavailable', SHUTTING_DOWN));
      return;
    }
    if (isEventStream(message)) return await streamNotifications(mcpRequest);
    const disconnected = new AbortController();
    context.response.once('close', () => disconnected.abort());
    if (isDisconnected(context)) return;
    const request = sdkRequest(context, disconnected.signal);
    this.#requests.set(request, mcpRequest);
    const isSubscription = isListening(message);
    const { name } = toJsonObject(toJsonObject(message)['params']);
    const isLongPolling = LONG_POLLING_TOOLS.has(name);
    if (isSubscription) context.app.eventStreams.count(context.response);
    else this.#active += 1;
    try {
      const isStreaming = isLongPolling && acceptsEventStream(context);
      const sdkResponse = await this.#respond(mcpRequest, request, isStreaming);
      const options = { isSubscription, isLongPolling: isStreaming };
      await sendSdkResponse(context.response, sdkResponse, options);
    } finally {
      if (!isSubscription) this.#active -= 1;
      if (this.#isShuttingDown) void this.#closeWhenIdle();
    }
  }

  async #respond(
    mcpRequest: McpRequest,
    request: Request,
    isStreaming: boolean,
  ): Promise<Response> {
    const { context, message } = mcpRequest;
    if (!acceptsEventStream(context) && (await isLegacyRequest(request, message))) {
      return await this.#answerInJson(mcpRequest, request);
    }
    const handler = isStreaming ? this.#streamingHandler : this.#handler;
    return await handler.fetch(request, { parsedBody: message });
  }

  /** For clients of legacy revisions: those get only event streams from the SDK's handler. */
  async #answerInJson(mcpRequest: McpRequest, request: Request): Promise<Response> {
    const server = this.#createServer(mcpRequest, 'legacy');
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    const { promise: disconnected, resolve } = Promise.withResolvers<Response>();
    const disconnect = (): void => resolve(new Response(null));
    request.signal.addEventListener('abort', disconnect, { once: true });
    try {
      const answer = transport.handleRequest(request, { parsedBody: mcpRequest.message });
      return await Promise.race([answer, disconnected]);
    } finally {
      await server.close();
    }
  }

  /** Ends subscriptions. Waits for other requests, because the SDK can only end all at once. */
  async #closeWhenIdle(): Promise<void> {
    if (this.#active === 0) await this.#handler.close();
  }
}

function isListening(message: unknown): boolean {
  return toJsonObject(message)['method'] === 'subscriptions/listen';
}

/**
 * The request without its body, which is passed parsed. Bodies are JSON and responses have either
 * form, whatever `Content-Type` and `Accept` say, as everywhere in the gateway.
 */
function sdkRequest({ request }: DoorRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values] of Object.entries(request.headers)) {
    for (const value of [values ?? ''].flat()) headers.append(name, value);
  }
  headers.set('content-type', 'application/json');
  headers.set('accept', 'application/json, text/event-stream');
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal });
}

/** Whether `Accept` names event streams, as clients of MCP do. */
function acceptsEventStream({ request }: DoorRequest): boolean {
  const named = weightedList(request.headers.accept ?? '', [EVENT_STREAM]);
  return named.some((element) => weightIn(element) > 0);
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

interface SendOptions {
  /** Whether each chunk of the body is a notification of a subscription. */
  readonly isSubscription: boolean;
  /** Whether the headers are sent before there is a result. */
  readonly isLongPolling: boolean;
}

/** Sends a response of the SDK through Node, at the pace of its reader. */
async function sendSdkResponse(
  response: ServerResponse,
  { status, headers, body }: Response,
  { isSubscription, isLongPolling }: SendOptions,
): Promise<void> {
  if (response.destroyed) return;
  const { connection: _, ...own } = Object.fromEntries(headers);
  response.writeHead(status, { ...own, ...NO_STORE, ...COMMON_HEADERS });
  if (isLongPolling) {
    response.flushHeaders();
  }
  const reader: BodyReader | undefined = body?.getReader();
  if (reader === undefined) {
    response.end();
    return;
  }
  response.once('close', () => void reader.cancel().catch(() => {}));
  await (isSubscription ? sendNotifications : sendBody)(response, reader);
  if (!response.destroyed) response.end();
}

async function sendBody(response: ServerResponse, body: BodyReader): Promise<void> {
  const spelling = new PortableSpelling();
  for (let step = await body.read(); !step.done; step = await body.read()) {
    if (response.destroyed) return;
    if (!response.write(spelling.replace(step.value))) await drained(response, response);
  }
}

/**
 * Merges notifications while a reader stalls: one says that a resource has changed since it was read, so equal
 * ones are sent once.
 */
async function sendNotifications(response: ServerResponse, body: BodyReader): Promise<void> {
  const pending = new Set<string>();
  let isStalled = false;
  response.on('drain', () => {
    isStalled = pending.size > 0 && !response.write([...pending].join(''));
    pending.clear();
  });
  for (let step = await body.read(); !step.done; step = await body.read()) {
    if (response.destroyed) return;
    const notification = respelled(step.value);
    if (isStalled) pending.add(notification.toString());
    else isStalled = !response.write(notification);
  }
  response.write([...pending].join(''));
}
