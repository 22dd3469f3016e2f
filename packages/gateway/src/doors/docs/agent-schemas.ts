/**
 * What agents and the gateway say to each other by MCP and A2A, as far as a caller of the gateway
 * needs it; the specifications of both say the rest.
 */
import { KINDS } from '@open-presence/protocol';

import { schema, type Json } from './components.ts';

const TEXT = { type: 'string' };
const OBJECT = { type: 'object' };
const ID = { type: ['string', 'integer', 'null'] };

function listOf(items: Json): Json {
  return { type: 'array', items };
}

function object(required: readonly string[], properties: Json): Json {
  return { type: 'object', required, properties, additionalProperties: true };
}

const ERROR = object(['code', 'message'], { code: { type: 'integer' }, message: TEXT, data: {} });

const JSON_RPC: Json = {
  JsonRpcAnswer: {
    oneOf: [
      object(['jsonrpc', 'id', 'result'], { jsonrpc: { const: '2.0' }, id: ID, result: OBJECT }),
      object(['jsonrpc', 'id', 'error'], { jsonrpc: { const: '2.0' }, id: ID, error: ERROR }),
    ],
  },
};

const MCP: Json = {
  McpRequest: {
    ...object(['jsonrpc', 'method'], {
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
  McpServerCard: object(['name', 'version', 'description', 'remotes'], {
    $schema: TEXT,
    name: TEXT,
    version: TEXT,
    title: TEXT,
    description: TEXT,
    remotes: listOf(
      object(['type', 'url'], {
        type: { const: 'streamable-http' },
        url: { type: 'string', format: 'uri' },
        supportedProtocolVersions: listOf(TEXT),
      }),
    ),
  }),
};

const PART = object([], {
  text: TEXT,
  data: {},
  metadata: OBJECT,
  mediaType: TEXT,
});

/** What the metadata of a part, of a message or of a request can say (PROTOCOL.md section 19.3). */
const METADATA = object([], {
  kind: { type: 'string', enum: [...KINDS] },
  skill: TEXT,
  identity: TEXT,
  identityType: TEXT,
  room: TEXT,
  to: { type: ['string', 'array'], items: TEXT },
  inReplyTo: TEXT,
  idempotencyKey: TEXT,
});

const TASK = object(['id', 'contextId', 'status'], {
  id: TEXT,
  contextId: TEXT,
  status: schema('A2aStatus'),
});

const MESSAGE = object(['messageId', 'role', 'parts'], {
  messageId: TEXT,
  role: { type: 'string', enum: ['ROLE_USER', 'ROLE_AGENT'] },
  contextId: TEXT,
  parts: listOf(schema('A2aPart')),
  metadata: METADATA,
});

const A2A: Json = {
  A2aPart: PART,
  A2aMessage: MESSAGE,
  A2aStatus: object(['state'], { state: TEXT, timestamp: { type: 'string', format: 'date-time' } }),
  A2aTask: TASK,
  A2aSend: object(['message'], { message: schema('A2aMessage'), metadata: METADATA }),
  A2aSent: {
    oneOf: [
      object(['message'], { message: schema('A2aMessage') }),
      object(['task'], { task: schema('A2aTask') }),
    ],
  },
  A2aTasks: object(['tasks'], {
    tasks: listOf(schema('A2aTask')),
    nextPageToken: TEXT,
    pageSize: { type: 'integer' },
    totalSize: { type: 'integer' },
  }),
  A2aError: object(['error'], {
    error: object(['code', 'status', 'message'], {
      code: { type: 'integer' },
      status: TEXT,
      message: TEXT,
      details: listOf(OBJECT),
    }),
  }),
  A2aJsonRpcRequest: {
    ...object(['jsonrpc', 'id', 'method'], {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'integer'] },
      method: {
        type: 'string',
        enum: [
          'SendMessage',
          'SendStreamingMessage',
          'GetTask',
          'ListTasks',
          'SubscribeToTask',
          'CancelTask',
          'message/send',
          'message/stream',
          'tasks/get',
          'tasks/resubscribe',
          'tasks/cancel',
        ],
      },
      params: OBJECT,
    }),
    externalDocs: { url: 'https://a2a-protocol.org/latest/specification/' },
  },
  AgentCard: object(['name', 'description', 'version', 'capabilities', 'skills'], {
    name: TEXT,
    description: TEXT,
    version: TEXT,
    url: { type: 'string', format: 'uri' },
    supportedInterfaces: listOf(
      object(['url', 'protocolBinding', 'protocolVersion'], {
        url: { type: 'string', format: 'uri' },
        protocolBinding: TEXT,
        protocolVersion: TEXT,
      }),
    ),
    capabilities: OBJECT,
    skills: listOf(
      object(['id', 'name', 'description', 'tags'], {
        id: TEXT,
        name: TEXT,
        description: TEXT,
        tags: listOf(TEXT),
        examples: listOf(TEXT),
      }),
    ),
  }),
};

export const AGENT_SCHEMAS: Json = { ...JSON_RPC, ...MCP, ...A2A };
