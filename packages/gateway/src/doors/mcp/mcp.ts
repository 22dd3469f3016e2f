/**
 * The MCP door (PROTOCOL.md section 18): the same app for AI systems that speak the Model Context
 * Protocol, by Streamable HTTP, without sessions.
 *
 * Owns the way from an HTTP request to the SDK and back; the SDK owns the protocol, the tools beside
 * this file what is said in it. Upholds:
 * - the SDK is not loaded before somebody speaks MCP.
 * - no message ends the process, and what a visitor says is kept letter by letter.
 * - whoever does not read a subscription holds at most one notification for each thing it follows.
 */
import { GatewayError } from '@open-presence/protocol';

import { sendResponse, jsonBody } from '../../http/response.ts';
import { JSON_TYPE, NO_STORE } from '../../http/headers.ts';
import { discardBody, readBody } from '../../http/request-body.ts';
import { isDisconnected } from '../../http/context.ts';
import type { DoorContext, DoorRequest, ProtocolDoor } from '../context.ts';
import { runInTurn } from '../../http/large-message-queue.ts';
import { sendError, sendProblem } from '../../http/problem.ts';
import { EVENT_STREAM } from '../../http/router.ts';
import { serverCard } from './server-card.ts';
import type { SdkHandler } from './sdk-handler.ts';
import type { McpRequest } from './tool-context.ts';
import { LONGEST, messageIn, TOO_LONG, type Misshapen } from './json-rpc.ts';

function refuseStream(context: DoorRequest): Promise<void> {
  const headers = { Allow: 'POST, OPTIONS' };
  return sendProblem(context, new GatewayError('method-not-allowed', NO_STREAM), headers);
}

const NO_STREAM =
  'Cannot open a stream at /mcp by GET: there are no sessions. POST "subscriptions/listen" (2026-07-28) to be notified, or call the tool wait_for_news.';

/** A door that speaks MCP; `begin` is asked once for each log, by the first message. */
export function mcpBy(
  begin: (app: DoorContext) => Promise<SdkHandler>,
): (context: DoorRequest) => void {
  const servings = new WeakMap<DoorContext['log'], Promise<SdkHandler>>();
  const servingOf = (app: DoorContext): Promise<SdkHandler> => {
    const serving = servings.get(app.log) ?? begin(app);
    servings.set(app.log, serving);
    return serving;
  };
  return (context) => {
    const failed = (error: unknown): void => sendError(context, error);
    readBody(context.request, LONGEST, {
      onSmall(bytes) {
        runInTurn(bytes, (release) => take({ context, bytes, release }, servingOf)).catch(failed);
      },
      onLarge() {
        const told = refuse(context, 400, TOO_LONG).catch(failed);
        void told.then(() => discardBody(context.request));
      },
    });
  };
}

const mcp = mcpBy(async (app) => {
  const { SdkHandler } = await import('./sdk-handler.ts');
  const { serverFor } = await import('./server.ts');
  return new SdkHandler(app, serverFor);
});

export const mcpDoor: ProtocolDoor = {
  routes: [
    {
      path: '/mcp',
      get: [
        { type: 'application/json', handle: serverCard },
        { type: EVENT_STREAM, onlyIfNamed: true, handle: refuseStream },
      ],
      post: mcp,
    },
    { path: '/mcp/server-card', get: serverCard },
  ],
};

async function take(
  said: Omit<McpRequest, 'message'>,
  servingOf: (app: DoorContext) => Promise<SdkHandler>,
): Promise<void> {
  const { context, bytes } = said;
  const { app, request } = context;
  if (isDisconnected(context)) return;
  const stranger = app.loopback ? strangerIn(context) : undefined;
  if (stranger !== undefined) {
    await refuse(context, 403, { code: -32_000, message: stranger, id: null });
    return;
  }
  const read = await messageIn(bytes);
  if ('refusal' in read) {
    await refuse(context, 400, read.refusal);
    return;
  }
  request.resume();
  const serving = await servingOf(app);
  await serving.serve({ ...said, message: read.message });
}

async function refuse(context: DoorRequest, status: number, refusal: Misshapen): Promise<void> {
  const { id, code, message } = refusal;
  const body = jsonBody({ jsonrpc: '2.0', id, error: { code, message } });
  await sendResponse(context, { status, type: JSON_TYPE, headers: NO_STORE, body });
}

/**
 * Why a page may not speak for the one who has it open: where only this machine can reach the door,
 * a page of elsewhere must not either, by whatever name it resolved the address. Who sends no
 * `Origin` is no page.
 */
function strangerIn({ app, request }: DoorRequest): string | undefined {
  const { origin, host } = request.headers;
  if (origin === undefined) return undefined;
  const own = app.publicUrl === undefined ? undefined : hostOf(app.publicUrl);
  const known = (url: string): boolean => {
    const name = hostOf(url);
    return LOCAL.test(name) || name === own;
  };
  if (!known(origin)) return foreign('Origin', origin);
  if (!known(`http://${host}`)) return foreign('Host', host ?? '');
  return undefined;
}

const LOCAL = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? '';
}

function foreign(header: string, value: string): string {
  return `Cannot accept MCP from a web page of another site: ${header} ${JSON.stringify(value.slice(0, 100))} is not this machine, and only this machine can reach this gateway. Programs send no Origin. Pages of other sites can use /api, or a gateway that was started with its public address.`;
}
