/**
 * The SDK at work: one short-lived server for each request. Loaded when somebody first speaks MCP.
 *
 * Owns the handing over of requests and answers between Node and the SDK, and when it ends. The
 * SDK's own adapter for Node would print and parse each message once more, and bound it.
 */
import type { ServerResponse } from 'node:http';

import {
  createMcpHandler,
  type McpHttpHandler,
  type McpServer,
  type McpServerFactory,
  type Server,
} from '@modelcontextprotocol/server';
import { GatewayError } from '@open-presence/protocol';

import { COMMON_HEADERS, NO_STORE } from '../../http/headers.ts';
import { isDisconnected } from '../../http/context.ts';
import type { DoorContext, DoorRequest } from '../context.ts';
import { sendProblem } from '../../http/problem.ts';
import { ResourceUpdates } from './resource-updates.ts';
import type { McpRequest } from './tool-context.ts';

/** What speaks with the caller of one message, in the way of its revision. */
export type ServerFor = (call: McpRequest, era: 'legacy' | 'modern') => Server | McpServer;

/** A stream is kept awake as event streams are. */
const SILENCE_MS = 15_000;

export class SdkHandler {
  readonly #calls = new WeakMap<Request, McpRequest>();
  readonly #handler: McpHttpHandler;
  /** For what is answered later: a stream from its beginning on, kept awake meanwhile. */
  readonly #later: McpHttpHandler;
  /** Those under way, save for subscriptions. */
  #busy = 0;
  #resting = false;

  constructor(app: DoorContext, make: ServerFor) {
    const factory: McpServerFactory = ({ era, requestInfo }) => {
      const call = requestInfo && this.#calls.get(requestInfo);
      if (call === undefined) throw new Error('A request that did not come through this door.');
      return make(call, era);
    };
    const options = {
      bus: new ResourceUpdates(app),
      maxSubscriptions: Infinity,
      keepAliveMs: SILENCE_MS,
    };
    this.#handler = createMcpHandler(factory, options);
    this.#later = createMcpHandler(factory, { ...options, responseMode: 'sse' });
    const { signal: shutdown } = app.shutdown;
    const rest = (): void => {
      this.#resting = true;
      void this.#restWhenIdle();
    };
    if (shutdown.aborted) rest();
    else shutdown.addEventListener('abort', rest, { once: true });
  }

  async serve(call: McpRequest): Promise<void> {
    const { context, message } = call;
    if (this.#resting) {
      await sendProblem(context, new GatewayError('unavailable', RESTING));
      return;
    }
    const gone = new AbortController();
    context.response.once('close', () => gone.abort());
    if (isDisconnected(context)) return;
    const request = requestOf(context, gone.signal);
    this.#calls.set(request, call);
    const listens = said(message, 'method') === 'subscriptions/listen';
    const waits = [message].flat().some((one) => said(said(one, 'params'), 'name') === WAITS);
    if (!listens) this.#busy += 1;
    try {
      const answer = await (waits ? this.#later : this.#handler).fetch(request, {
        parsedBody: message,
      });
      await send(context.response, answer, { listens, waits, release: call.release });
    } finally {
      if (!listens) this.#busy -= 1;
      if (this.#resting) void this.#restWhenIdle();
    }
  }

  /** Subscriptions are ended once nothing else is under way: the SDK can end but all at once. */
  async #restWhenIdle(): Promise<void> {
    if (this.#busy === 0) await this.#handler.close();
  }
}

const WAITS = 'wait_for_news';
const RESTING = 'Cannot answer: the gateway is shutting down. Try again in a moment.';

function said(message: unknown, member: string): unknown {
  return typeof message === 'object' && message !== null && Object.hasOwn(message, member)
    ? Reflect.get(message, member)
    : undefined;
}

/** Without its body, which is parsed. As elsewhere, a body is JSON, and an answer of either form. */
function requestOf({ request }: DoorRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) headers.append(name, one);
  }
  headers.set('content-type', 'application/json');
  headers.set('accept', 'application/json, text/event-stream');
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal });
}

interface Manner {
  readonly listens: boolean;
  readonly waits: boolean;
  readonly release: () => void;
}

async function send(
  response: ServerResponse,
  answer: Response,
  { listens, waits, release }: Manner,
): Promise<void> {
  if (response.destroyed) return;
  const headers = Object.fromEntries(answer.headers);
  delete headers['connection'];
  response.writeHead(answer.status, { ...headers, ...NO_STORE, ...COMMON_HEADERS });
  // Whoever waits long shall know at once that it is heard.
  if (waits) {
    response.flushHeaders();
    release();
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = answer.body?.getReader();
  if (reader === undefined) {
    response.end();
    return;
  }
  response.once('close', () => void reader.cancel().catch(() => {}));
  await (listens ? sendResourceUpdates : sendPieces)(response, reader, release);
  if (!response.destroyed) response.end();
}

type Pieces = ReadableStreamDefaultReader<Uint8Array>;

async function sendPieces(
  response: ServerResponse,
  pieces: Pieces,
  release: () => void,
): Promise<void> {
  for (let step = await pieces.read(); !step.done; step = await pieces.read()) {
    release();
    if (response.destroyed) return;
    if (!response.write(step.value)) await drained(response);
  }
}

async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('drain', resolve).once('close', resolve);
  await promise;
  response.off('drain', resolve).off('close', resolve);
}

/**
 * Each piece is a notification, and what it says holds until the reader looks. So of those that a
 * slow reader has not taken, one of each kind is kept.
 */
async function sendResourceUpdates(
  response: ServerResponse,
  pieces: Pieces,
  release: () => void,
): Promise<void> {
  const waiting = new Set<string>();
  let stalls = false;
  response.on('drain', () => {
    stalls = waiting.size > 0 && !response.write([...waiting].join(''));
    waiting.clear();
  });
  for (let step = await pieces.read(); !step.done; step = await pieces.read()) {
    release();
    if (response.destroyed) return;
    if (stalls) waiting.add(Buffer.from(step.value).toString());
    else stalls = !response.write(step.value);
  }
  response.write([...waiting].join(''));
}
