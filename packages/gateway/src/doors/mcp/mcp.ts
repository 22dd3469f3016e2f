/**
 * The MCP door (PROTOCOL.md section 18): the gateway for AI systems that speak the Model Context
 * Protocol, over Streamable HTTP, without sessions.
 *
 * Owns reading the message and refusing what is none; the SDK owns the protocol. The SDK is
 * loaded when somebody first speaks MCP. No message ends the process.
 *
 * Invariant: The door conforms to the specification of MCP, for clients of every revision.
 * Test: `test/mcp/conformance.test.ts` “the official conformance suite”
 * Test: `test/mcp/subscriptions.test.ts` “over … hear of an entry made over plain HTTP, with …
 *   threads”
 *
 * Invariant: A subscriber that does not read gets one notification for each resource when it reads
 *   on.
 * Test: `packages/gateway/src/doors/mcp/mcp.test.ts` “tells a subscriber who stalled of each thing
 *   once, when it reads on”
 */
import { setImmediate as nextTick } from 'node:timers/promises';

import { GatewayError, statusOf } from '@open-presence/protocol';

import { isDisconnected } from '../../http/context.ts';
import { takenNames } from '../../http/parameters/parameter-check.ts';
import { JSON_TYPE, NO_STORE, type Headers } from '../../http/response/headers.ts';
import { RETRY_AFTER, sendProblem } from '../../http/response/problem.ts';
import { jsonBody, sendResponse } from '../../http/response/response.ts';
import { EVENT_STREAM } from '../../http/routing/door.ts';
import { isJsonObject, toJsonObject } from '../../json/json-object.ts';
import type { DoorContext, DoorRequest, ProtocolDoor } from '../context.ts';
import { parseMessage, receiveMessage } from '../json-message.ts';
import type { SdkHandler } from './sdk-handler.ts';
import { SERVER_CARD_TYPE, serverCard } from './server-card.ts';
import type { McpRequest } from './tools/tool-call.ts';

type HandlerFor = (app: DoorContext) => Promise<SdkHandler>;

/** Receives messages. `createHandler` is called once for each context, by the first message. */
export function receiveMessages(createHandler: HandlerFor): (context: DoorRequest) => void {
  const handlers = new WeakMap<DoorContext, Promise<SdkHandler>>();
  const handlerFor: HandlerFor = (app) => {
    const handler = handlers.get(app) ?? createHandler(app);
    handlers.set(app, handler);
    return handler;
  };
  return (context) => {
    receiveMessage(context, {
      handle: (message, changed) => handle({ context, message, changed }, handlerFor),
      refuse: (error) => refuse(context, statusOf(error.code), faultOfBody(error)),
    });
  };
}

/** What the SDK is made of, its imports first. Others have turns between two parts. */
const SDK_PARTS: readonly (() => Promise<unknown>)[] = [
  () => import('zod/v4/core'),
  () => import('zod/v4'),
  () => import('@modelcontextprotocol/core'),
  () => import('@modelcontextprotocol/server'),
];

const post = receiveMessages(async (app) => {
  for (const load of SDK_PARTS) {
    await load();
    await nextTick();
  }
  const { SdkHandler } = await import('./sdk-handler.ts');
  const { createServer } = await import('./server.ts');
  return new SdkHandler(app, createServer);
});

export const mcpDoor: ProtocolDoor = {
  routes: [
    {
      path: '/mcp',
      get: [
        { type: 'application/json', handle: serverCard },
        { type: EVENT_STREAM, onlyIfNamed: true, handle: refuseStream },
      ],
      post,
      postParameters: takenNames(['as'], {
        'idempotency-key': 'the key is the argument "idempotencyKey" of a tool, or the header',
      }),
      description: { id: 'mcp', parameters: ['as'] },
    },
    {
      path: '/mcp/server-card',
      get: [{ type: SERVER_CARD_TYPE, handle: serverCard }],
      description: { parameters: ['as'] },
    },
  ],
};

function refuseStream(context: DoorRequest): Promise<void> {
  const headers = { Allow: 'POST, OPTIONS' };
  return sendProblem(context, new GatewayError('method-not-allowed', NO_STREAM), headers);
}

const NO_STREAM =
  'Cannot open a stream at /mcp by GET: there are no sessions. POST "subscriptions/listen" (2026-07-28) to be notified, or call the tool wait_for_news.';

async function handle(request: McpRequest, handlerFor: HandlerFor): Promise<void> {
  const { context, message, changed } = request;
  if (isDisconnected(context)) return;
  const fault = faultOf(message);
  if (fault !== undefined) return await refuse(context, 400, fault);
  readArguments(message, changed);
  const handler = await handlerFor(context.app);
  await handler.handle(request);
}

async function refuse(context: DoorRequest, status: number, fault: MessageFault): Promise<void> {
  const { id, code, message } = fault;
  const body = jsonBody({ jsonrpc: '2.0', id, error: { code, message } });
  const retry: Headers = status >= 500 ? { 'Retry-After': RETRY_AFTER } : {};
  const headers = { ...NO_STORE, ...retry };
  await sendResponse(context, { status, type: JSON_TYPE, headers, body });
}

/** Why a text is not accepted as a message. */
interface MessageFault {
  readonly code: number;
  readonly message: string;
  /** The id of the request, if there is one. */
  readonly id: unknown;
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** What the SDK answers only with "invalid"; undefined for a message that it can handle. */
function faultOf(message: unknown): MessageFault | undefined {
  const { jsonrpc, method, id = null, result, error } = toJsonObject(message);
  const isCall = typeof method === 'string';
  const isCallWithoutId = isCall && id === null && !method.startsWith('notifications/');
  if (jsonrpc === '2.0' && (isCall ? !isCallWithoutId : (result ?? error) !== undefined))
    return undefined;
  const detail = isCallWithoutId ? 'its "id" is missing' : 'it is no JSON-RPC 2.0 message';
  const text = `Cannot read the message: ${detail}. Send one object such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}`;
  return { code: INVALID_REQUEST, message: text, id };
}

function faultOfBody({ code, message }: GatewayError): MessageFault {
  return { code: code === 'malformed-json' ? PARSE_ERROR : INVALID_REQUEST, message, id: null };
}

/** Some clients send arguments as JSON text, or null for none. */
function readArguments(message: unknown, changed: Set<string>): void {
  const params = toJsonObject(message)['params'];
  if (!isJsonObject(params) || !('arguments' in params)) return;
  const { arguments: given } = params;
  const read = typeof given === 'string' ? parsed(given, changed) : (given ?? {});
  if (read !== undefined) Object.assign(params, { arguments: read });
}

function parsed(text: string, changed: Set<string>): unknown {
  try {
    return parseMessage(text.trim() || '{}', changed) ?? {};
  } catch {
    return undefined;
  }
}
