/**
 * Passes requests to the SDK, which makes a server for each, and its responses back. Loaded when
 * somebody first speaks MCP.
 *
 * Owns the conversion between Node's requests and the SDK's, and the shutdown. The SDK's own adapter
 * for Node would serialize and parse each message once more, and limit its size.
 */
import {
  createMcpHandler,
  type McpHttpHandler,
  type McpServer,
  type McpServerFactory,
  type Server,
} from '@modelcontextprotocol/server';
import { GatewayError } from '@open-presence/protocol';

import { isDisconnected } from '../../http/context.ts';
import { sendProblem } from '../../http/problem.ts';
import { toJsonObject } from '../../json/json-object.ts';
import type { DoorContext, DoorRequest } from '../context.ts';
import { ResourceUpdates } from './resource-updates.ts';
import { sendSdkResponse } from './response-stream.ts';
import type { McpRequest } from './tools/tool-call.ts';

/** Creates the server that handles one message; clients of legacy revisions begin with `initialize`. */
export type ServerFactory = (request: McpRequest, era: 'legacy' | 'modern') => Server | McpServer;

/** As for event streams: proxies often close connections that are silent for 30 s. */
const KEEP_ALIVE_MS = 15_000;
const LONG_POLLING_TOOL = 'wait_for_news';
const SHUTTING_DOWN = 'Cannot answer: the gateway is shutting down. Try again in a moment.';

export class SdkHandler {
  readonly #requests = new WeakMap<Request, McpRequest>();
  readonly #handler: McpHttpHandler;
  /** For long polling: streams its response from the start, so that the connection is kept alive. */
  readonly #streamingHandler: McpHttpHandler;
  /** Requests in progress, without subscriptions. */
  #active = 0;
  #isShuttingDown = false;

  constructor(app: DoorContext, createServer: ServerFactory) {
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
    const { context, message, release } = mcpRequest;
    if (this.#isShuttingDown) {
      await sendProblem(context, new GatewayError('unavailable', SHUTTING_DOWN));
      return;
    }
    const disconnected = new AbortController();
    context.response.once('close', () => disconnected.abort());
    if (isDisconnected(context)) return;
    const request = sdkRequest(context, disconnected.signal);
    this.#requests.set(request, mcpRequest);
    const isSubscription = toJsonObject(message)['method'] === 'subscriptions/listen';
    const isLongPolling = [message]
      .flat()
      .some((each) => toJsonObject(toJsonObject(each)['params'])['name'] === LONG_POLLING_TOOL);
    const handler = isLongPolling ? this.#streamingHandler : this.#handler;
    if (!isSubscription) this.#active += 1;
    try {
      const sdkResponse = await handler.fetch(request, { parsedBody: message });
      const options = { isSubscription, isLongPolling, release };
      await sendSdkResponse(context.response, sdkResponse, options);
    } finally {
      if (!isSubscription) this.#active -= 1;
      if (this.#isShuttingDown) void this.#closeWhenIdle();
    }
  }

  /** Ends subscriptions. Waits for other requests, because the SDK can only end all at once. */
  async #closeWhenIdle(): Promise<void> {
    if (this.#active === 0) await this.#handler.close();
  }
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
