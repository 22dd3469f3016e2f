/** What the OpenAPI document says of MCP (PROTOCOL.md section 18), as far as a caller needs it. */
import type { LocalizedText } from '@open-presence/protocol';

import type {
  Content,
  JsonObject,
  Localization,
  OperationDetails,
} from '../../http/route-description.ts';
import {
  type BodyExample,
  EXAMPLE_ADDRESS,
  JSON_RPC_SCHEMAS,
  jsonBody,
  listOf,
  OBJECT,
  objectWith,
  problems,
  schemaRef,
  TEXT,
} from '../openapi-parts.ts';
import { REVISIONS, SERVER_CARD_TYPE, serverCardOf } from './server-card.ts';

/** The newest of those that begin with `initialize`. */
const [, NEWEST_WITH_INITIALIZE] = REVISIONS;

export function content(localization: Localization): Record<string, Content> {
  const example = serverCardOf(localization, EXAMPLE_ADDRESS);
  const schema = schemaRef('McpServerCard');
  return { McpServerCard: { type: SERVER_CARD_TYPE, schema, example } };
}

export function operations(localization: Localization): Record<string, OperationDetails> {
  const { language, text } = localization;
  const { pages, mcp } = language;
  const result = { jsonrpc: '2.0', id: 1, result: {} };
  const schema = schemaRef('JsonRpcAnswer');
  const refused = (reason: LocalizedText): JsonObject => ({
    description: text(reason),
    content: { 'application/json': { schema } },
  });
  const post: OperationDetails = {
    description: () => text(mcp.instructions),
    parameters: [
      {
        name: 'MCP-Protocol-Version',
        in: 'header',
        description: text(pages.mcpRevision),
        schema: { type: 'string', examples: REVISIONS },
        example: NEWEST_WITH_INITIALIZE,
      },
    ],
    requestBody: jsonBody(
      { anyOf: [schemaRef('McpRequest'), listOf(schemaRef('McpRequest'))] },
      requests(localization),
    ),
    responses: {
      200: {
        description: text(pages.done),
        content: {
          'text/event-stream': {
            schema: TEXT,
            example: `event: message\ndata: ${JSON.stringify(result)}\n\n`,
          },
          'application/json': { schema, example: result },
        },
      },
      202: { description: text(pages.noted) },
      400: refused(pages.refused),
      ...problems([403, 500]),
    },
  };
  return { 'POST /mcp': post };
}

function requests({ language, text }: Localization): Readonly<Record<string, BodyExample>> {
  const { mcp, kinds } = language;
  const call = (summary: LocalizedText, method: string, params: JsonObject): BodyExample => ({
    summary: `${method}: ${text(summary)}`,
    value: { jsonrpc: '2.0', id: 1, method, params },
  });
  const tool = (summary: LocalizedText, name: string, given: JsonObject): BodyExample =>
    call(summary, 'tools/call', { name, arguments: given });
  return {
    initialize: call(language.doors.mcp, 'initialize', {
      protocolVersion: NEWEST_WITH_INITIALIZE,
      capabilities: {},
      clientInfo: { name: 'visitor', version: '1.0.0' },
    }),
    initialized: {
      summary: 'notifications/initialized',
      value: { jsonrpc: '2.0', method: 'notifications/initialized' },
    },
    tools: call(language.labels.kinds, 'tools/list', {}),
    firstContact: tool(
      kinds.resonance.title,
      'first_contact',
      kinds.resonance.sentences[0]?.body ?? {},
    ),
    leaveTrace: tool(kinds.garden.title, 'leave_trace', kinds.garden.sentences[0]?.body ?? {}),
    read: tool(mcp.tools.read.title, 'read', { kind: 'garden', limit: 10 }),
    search: tool(mcp.tools.search.title, 'search', { q: 'garden' }),
    rooms: call(mcp.resources.rooms.title, 'resources/read', { uri: 'presence://rooms' }),
    firstVisit: call(mcp.prompts.first_visit.title, 'prompts/get', { name: 'first_visit' }),
  };
}

export const schemas: JsonObject = {
  ...JSON_RPC_SCHEMAS,
  McpRequest: {
    ...objectWith(['jsonrpc', 'method'], {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'integer'] },
      method: {
        type: 'string',
        examples: [
          'server/discover',
          'initialize',
          'tools/list',
          'tools/call',
          'resources/list',
          'resources/templates/list',
          'resources/read',
          'prompts/list',
          'prompts/get',
          'subscriptions/listen',
        ],
      },
      params: {
        type: 'object',
        properties: { name: TEXT, arguments: OBJECT, uri: TEXT, _meta: OBJECT },
        additionalProperties: true,
      },
    }),
    externalDocs: { url: 'https://modelcontextprotocol.io/specification' },
  },
  McpServerCard: objectWith(['name', 'version', 'description', 'remotes'], {
    $schema: TEXT,
    name: TEXT,
    version: TEXT,
    title: TEXT,
    description: TEXT,
    remotes: listOf(
      objectWith(['type', 'url'], {
        type: { const: 'streamable-http' },
        url: { type: 'string', format: 'uri' },
        supportedProtocolVersions: listOf(TEXT),
      }),
    ),
  }),
};
