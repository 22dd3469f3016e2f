/** One server of the SDK for one request: what it can do, and who does it. */
import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerCapabilities,
} from '@modelcontextprotocol/server';
import { localize, type Language, type Locale } from '@open-presence/protocol';

import { localeFor } from '../../http/context.ts';
import type { DoorContext } from '../context.ts';
import { SERVER_NAME } from './server-card.ts';
import { toldPrompt, toldPrompts } from './prompts.ts';
import { listedResources, listedTemplates, readResource } from './resources.ts';
import { failed, knownIn } from './results.ts';
import type { McpRequest, ToolContext } from './tool-context.ts';
import { TOOLS, toolsIn } from './tools.ts';

/** Subscriptions are of 2026-07-28: to clients before it, who have no session, nothing could be sent. */
const CAPABILITIES = {
  legacy: { tools: {}, resources: {}, prompts: {} },
  modern: { tools: {}, resources: { subscribe: true }, prompts: {} },
} as const satisfies Record<string, ServerCapabilities>;

/** Words change with the gateway's language file alone, and that when it starts. */
const WORDS = { ttlMs: 3_600_000, cacheScope: 'public' } as const;
/** What visitors say may be read by anyone, and is new at any time. */
const LIVE = { ttlMs: 0, cacheScope: 'public' } as const;

export function serverFor(call: McpRequest, era: 'legacy' | 'modern'): Server {
  const { app, request } = call.context;
  const { language } = app;
  const locale = localeFor(request);
  const server = new Server(
    {
      name: SERVER_NAME,
      title: localize(language.service, locale),
      version: language.version,
      description: localize(language.doors.mcp, locale),
    },
    {
      capabilities: CAPABILITIES[era],
      instructions: localize(language.mcp.instructions, locale),
      cacheHints: {
        'server/discover': WORDS,
        'tools/list': WORDS,
        'prompts/list': WORDS,
        'resources/list': WORDS,
        'resources/templates/list': WORDS,
        'resources/read': LIVE,
      },
    },
  );
  const asked = (id: string | number, signal: AbortSignal): ToolContext => ({
    call,
    id,
    signal,
    locale,
  });
  server.setRequestHandler('tools/list', () => ({ tools: [...toolsIn(language, locale)] }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = TOOLS.get(params.name);
    if (tool === undefined) throw unknown('tool', params.name, [...TOOLS.keys()]);
    const context = asked(mcpReq.id, mcpReq.signal);
    try {
      return await tool(context, params.arguments ?? {});
    } catch (error) {
      return failed(app, locale, error);
    }
  });
  server.setRequestHandler('resources/list', () => listedResources(language, locale));
  server.setRequestHandler('resources/templates/list', () => listedTemplates(language, locale));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq }) => {
    return await protocolErrors(app, () => readResource(asked(mcpReq.id, mcpReq.signal), uri));
  });
  prompts(server, language, locale);
  return server;
}

function prompts(server: Server, language: Language, locale: Locale | undefined): void {
  server.setRequestHandler('prompts/list', () => toldPrompts(language, locale));
  server.setRequestHandler('prompts/get', ({ params }) => {
    const prompt = toldPrompt(language, locale, params);
    if (prompt === undefined)
      throw unknown('prompt', params.name, Object.keys(language.mcp.prompts));
    return prompt;
  });
}

function unknown(what: string, name: string, known: readonly string[]): ProtocolError {
  const detail = `Cannot find the ${what} ${JSON.stringify(name.slice(0, 100))}. Known are ${known.join(', ')}.`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, detail);
}

/** What a caller can cause, where the protocol has no results that are errors. */
async function protocolErrors<Value>(app: DoorContext, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown;
    const { code, message, extensions } = knownIn(app, thrown);
    const ours = OURS.has(code) ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
    throw new ProtocolError(ours, message, { code, ...extensions });
  }
}

/** What no other parameters would mend. */
const OURS: ReadonlySet<string> = new Set(['out-of-space', 'unavailable', 'internal']);
