/** A server of the SDK, which lives for one request: its capabilities and request handlers. */
import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type JSONRPCRequest,
  type Result,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';

import type { Localization } from '../../http/route-description.ts';
import { untilSeen } from '../../operations/until-seen.ts';
import { localizationFor } from '../context.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { paramsError } from './params-error.ts';
import { listResources, listResourceTemplates, readResource, resourceError } from './resources.ts';
import { errorResult } from './tools/results.ts';
import { SERVER_NAME } from './server-card.ts';
import type { McpRequest, ToolContext } from './tools/tool-call.ts';
import { argumentNotes, listTools, TOOLS } from './tools/tools.ts';

/** Only 2026-07-28 has subscriptions: earlier revisions could not notify clients without a session. */
const CAPABILITIES = {
  legacy: { tools: {}, resources: {}, prompts: {} },
  modern: { tools: {}, resources: { subscribe: true }, prompts: {} },
} as const satisfies Record<string, ServerCapabilities>;

/** These texts change only with the language file, which is read at start. */
const STATIC = { ttlMs: 3_600_000, cacheScope: 'public' } as const;
const LIVE = { ttlMs: 0, cacheScope: 'public' } as const;
const CACHE_HINTS = {
  'server/discover': STATIC,
  'tools/list': STATIC,
  'prompts/list': STATIC,
  'resources/list': STATIC,
  'resources/templates/list': STATIC,
  'resources/read': LIVE,
};

/** Answers params that no request of a method can have with -32602, and says what is wrong with them. */
class GatewayServer extends Server {
  protected override _wrapHandler(method: string, handler: RequestHandler): RequestHandler {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await wrapped(request, context);
      } catch (error) {
        throw paramsError(method, error) ?? error;
      }
    };
  }
}

type RequestHandler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

export function createServer(
  { context, bytes, large }: McpRequest,
  era: 'legacy' | 'modern',
): Server {
  const { app, response } = context;
  const localization = localizationFor(context);
  const { language, text } = localization;
  const server = new GatewayServer(
    {
      name: SERVER_NAME,
      title: text(language.service),
      version: language.version,
      description: text(language.doors.mcp),
    },
    {
      capabilities: CAPABILITIES[era],
      instructions: text(language.mcp.instructions),
      cacheHints: CACHE_HINTS,
    },
  );
  const contextOf = ({ mcpReq }: ServerContext): ToolContext => {
    const { id, signal } = mcpReq;
    const sendProgress = progressSender(response, mcpReq);
    return { app, response, ...localization, bytes, large, id, signal, notes: [], sendProgress };
  };
  handleTools(server, localization, contextOf);
  handleResources(server, localization, contextOf);
  handlePrompts(server, localization);
  return server;
}

/** Undefined for a caller who gave no token. */
function progressSender(
  response: McpRequest['context']['response'],
  { _meta, notify }: ServerContext['mcpReq'],
): ToolContext['sendProgress'] {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress, message) => {
    // An answer in JSON has no place for it, and it would pile up for a caller who doesn't read.
    if (!response.headersSent || response.writableNeedDrain) return;
    const params = { progressToken, progress, message };
    notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}

type ContextOf = (context: ServerContext) => ToolContext;

function handleTools(server: Server, localization: Localization, contextOf: ContextOf): void {
  server.setRequestHandler('tools/list', () => ({ tools: [...listTools(localization)] }));
  server.setRequestHandler('tools/call', async ({ params }, serverContext) => {
    const tool = TOOLS.get(params.name);
    if (tool === undefined) throw unknownName('tool', params.name, [...TOOLS.keys()]);
    const { arguments: args = {} } = params;
    const caller = contextOf(serverContext);
    const context = { ...caller, notes: await argumentNotes(caller, params.name, args) };
    try {
      await untilSeen(context.app.log, Object.entries(args));
      return await tool(context, args);
    } catch (error) {
      return errorResult(context, error);
    }
  });
}

function handleResources(server: Server, localization: Localization, contextOf: ContextOf): void {
  server.setRequestHandler('resources/list', () => listResources(localization));
  server.setRequestHandler('resources/templates/list', () => listResourceTemplates(localization));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, serverContext) => {
    const context = contextOf(serverContext);
    try {
      return await readResource(context, uri);
    } catch (error) {
      throw resourceError(context.app, uri, error);
    }
  });
}

function handlePrompts(server: Server, localization: Localization): void {
  server.setRequestHandler('prompts/list', () => listPrompts(localization));
  server.setRequestHandler('prompts/get', ({ params }) => {
    const prompt = getPrompt(localization, params);
    if (prompt !== undefined) return prompt;
    throw unknownName('prompt', params.name, Object.keys(localization.language.mcp.prompts));
  });
}

function unknownName(type: string, name: string, known: readonly string[]): ProtocolError {
  const detail = `Cannot find the ${type} ${JSON.stringify(name.slice(0, 100))}. Known are ${known.join(', ')}.`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, detail);
}
