/** A server of the SDK, which lives for one request: its capabilities and request handlers. */
import {
  type GetPromptResult,
  type JSONRPCRequest,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';

import type { Localization } from '../../http/route-description.ts';
import { untilSeen } from '../../operations/until-seen.ts';
import { localizationFor } from '../context.ts';
import { headerKeyOf } from '../request-key.ts';
import { EVENTS_EXTENSION, handleEvents } from './events.ts';
import { listResources, listResourceTemplates, readResource, resourceError } from './resources.ts';
import { SERVER_NAME } from './server-card.ts';
import { errorResult } from './tools/results.ts';
import type { McpRequest, ToolContext } from './tools/tool-call.ts';
import { givenArguments, listTools, TOOLS } from './tools/tools.ts';

/** Only 2026-07-28 has subscriptions: earlier revisions could not notify clients without a session. */
const CAPABILITIES = {
  legacy: { tools: {}, resources: {}, prompts: {} },
  modern: { tools: {}, resources: { subscribe: true }, prompts: {} },
} as const satisfies Record<string, ServerCapabilities>;
/** Under both names that clients look for. The types of the SDK know only the second. */
const EVENTS = { events: {}, extensions: { [EVENTS_EXTENSION]: {} } };

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

/** Answers params of the wrong form with -32602, where the SDK calls its list of faults an internal error. */
class GatewayServer extends Server {
  protected override _wrapHandler(method: string, handler: RequestHandler): RequestHandler {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await wrapped(request, context);
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('[')) throw error;
        const message = `Invalid ${method} request: ${error.message}`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      }
    };
  }
}

type RequestHandler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

export function createServer({ context, changed }: McpRequest, era: 'legacy' | 'modern'): Server {
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
      capabilities: { ...CAPABILITIES[era], ...EVENTS },
      instructions: text(language.mcp.instructions),
      cacheHints: CACHE_HINTS,
    },
  );
  const contextOf = ({ mcpReq }: ServerContext): ToolContext => {
    const { signal } = mcpReq;
    const sendProgress = progressSender(response, mcpReq);
    const headerKey = () => headerKeyOf(context.request, 0);
    const source = { headerKey, changed, signal };
    return { app, response, ...localization, ...source, sendProgress };
  };
  handleTools(server, localization, contextOf);
  handleResources(server, localization, contextOf);
  handlePrompts(server, localization);
  handleEvents(server, localization, contextOf);
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
    const context = contextOf(serverContext);
    try {
      const args = givenArguments(context, params.name, params.arguments ?? {});
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

/** The optional arguments that each prompt names: members of a first contact or a trace. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  first_visit: ['ai_identity', 'seeking'],
  tend_garden: ['identity'],
};

function listPrompts(localization: Localization): ListPromptsResult {
  const { language, text } = localization;
  const prompts = Object.entries(language.mcp.prompts).map(([name, { title, meaning }]) => ({
    name,
    title: text(title),
    description: text(meaning),
    arguments: (ARGUMENTS[name] ?? []).map((argument) => ({
      name: argument,
      description: meaningOf(localization, argument),
      required: false,
    })),
  }));
  return { prompts };
}

function getPrompt(
  { language, text }: Localization,
  { name, arguments: args = {} }: { name: string; arguments?: Record<string, string> | undefined },
): GetPromptResult | undefined {
  const prompt = Object.entries(language.mcp.prompts).find(([key]) => key === name)?.[1];
  if (prompt === undefined) return undefined;
  const lines = Object.entries(args).flatMap(([argument, value]) =>
    value === '' ? [] : [`${argument}: ${value}`],
  );
  const request = [text(prompt.text), ...lines].join('\n\n');
  return {
    description: text(prompt.meaning),
    messages: [{ role: 'user', content: { type: 'text', text: request } }],
  };
}

function meaningOf({ language, text }: Localization, argument: string): string {
  const { kinds } = language;
  const fields = [...kinds.resonance.fields, ...kinds.garden.fields];
  const meaning = fields.find(({ name }) => name === argument)?.meaning;
  return meaning === undefined ? '' : text(meaning);
}
