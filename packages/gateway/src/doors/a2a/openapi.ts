/** What the OpenAPI document says of A2A (PROTOCOL.md section 19), as far as a caller needs it. */
import { JSON_RPC_PATH, KINDS, type LocalizedText, REST_PATH } from '@open-presence/protocol';

import type {
  Content,
  JsonObject,
  Localization,
  OperationDetails,
  ParameterDescription,
} from '../../http/route-description.ts';
import {
  type BodyExample,
  EXAMPLE_ADDRESS,
  exampleEntry,
  exampleRooms,
  JSON_RPC_SCHEMAS,
  jsonBody,
  listOf,
  OBJECT,
  objectWith,
  problems,
  schemaRef,
  TEXT,
} from '../openapi-parts.ts';
import { A2A_TYPE, cardOf, legacyCardOf } from './agent-card.ts';

export function content(localization: Localization): Record<string, Content> {
  const schema = schemaRef('AgentCard');
  return {
    AgentCard: { schema, example: cardOf(localization, EXAMPLE_ADDRESS) },
    AgentCard03: { schema, example: legacyCardOf(localization, EXAMPLE_ADDRESS) },
  };
}

export function operations(localization: Localization): Record<string, OperationDetails> {
  const tasks = `${REST_PATH}/tasks`;
  const task = taskOperation(localization);
  const subscription = subscriptionOperation(localization);
  return {
    [`POST ${JSON_RPC_PATH}`]: jsonRpcOperation(localization),
    [`POST ${REST_PATH}/message:send`]: sendOperation(localization),
    [`POST ${REST_PATH}/message:stream`]: streamOperation(localization),
    [`GET ${tasks}`]: tasksOperation(localization),
    [`GET ${tasks}/{id}`]: task,
    [`POST ${tasks}/{id}`]: task,
    [`GET ${tasks}/{id}:subscribe`]: subscription,
    [`POST ${tasks}/{id}:subscribe`]: subscription,
  };
}

function jsonRpcOperation(localization: Localization): OperationDetails {
  const { language, text } = localization;
  const call = (method: string, { summary, value }: BodyExample): BodyExample => ({
    summary: `${method}: ${summary}`,
    value: { jsonrpc: '2.0', id: 1, method, params: value },
  });
  const { trace, contact, read, follow } = requests(localization);
  const task = { summary: text(language.skills.follow.title), value: { id: TASK_ID } };
  const answer = (result: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: 1, result });
  return {
    parameters: [version(localization)],
    requestBody: jsonBody(schemaRef('A2aJsonRpcRequest'), {
      trace: call('SendMessage', trace),
      contact: call('SendMessage', contact),
      read: call('SendMessage', read),
      follow: call('SendStreamingMessage', follow),
      task: call('GetTask', task),
    }),
    responses: {
      200: {
        description: text(language.pages.done),
        content: {
          'application/json': {
            schema: schemaRef('JsonRpcAnswer'),
            example: answer({ message: exampleMessage(localization) }),
          },
          ...streamOf(answer({ task: exampleTask(localization) })),
        },
      },
      ...problems([400, 500, 503]),
    },
  };
}

function sendOperation(localization: Localization): OperationDetails {
  const example = { message: exampleMessage(localization) };
  return {
    ...sharedBySends(localization),
    responses: responses(localization, jsonContent('A2aSent', example), [400, 507]),
  };
}

function streamOperation(localization: Localization): OperationDetails {
  const content = streamOf({ task: exampleTask(localization) });
  return {
    ...sharedBySends(localization),
    responses: responses(localization, content, [400, 507]),
  };
}

function sharedBySends(localization: Localization): OperationDetails {
  return {
    door: 'a2a',
    parameters: [version(localization)],
    requestBody: jsonBody(schemaRef('A2aSend'), { ...requests(localization) }),
  };
}

function tasksOperation(localization: Localization): OperationDetails {
  const example = { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 };
  return {
    door: 'a2a',
    parameters: [version(localization)],
    responses: responses(localization, jsonContent('A2aTasks', example), [400]),
  };
}

function taskOperation(localization: Localization): OperationDetails {
  const content = jsonContent('A2aTask', exampleTask(localization));
  return {
    door: 'a2a',
    parameters: taskParameters(localization),
    responses: responses(localization, content, [400, 404]),
  };
}

function subscriptionOperation(localization: Localization): OperationDetails {
  const { language, text } = localization;
  const content = streamOf({ task: exampleTask(localization) });
  return {
    door: 'a2a',
    parameters: taskParameters(localization),
    responses: {
      ...responses(localization, content, [400, 404]),
      200: { description: text(language.skills.follow.meaning), content },
    },
  };
}

function taskParameters(localization: Localization): ParameterDescription[] {
  const id = { name: 'id', in: 'path', required: true, schema: TEXT, example: TASK_ID } as const;
  return [id, version(localization)];
}

function version({ language, text }: Localization): ParameterDescription {
  const description = text(language.pages.revision);
  return { name: 'A2A-Version', in: 'header', description, schema: TEXT, example: '1.0' };
}

/** Errors are in A2A's own form, also those of the gateway itself. */
function responses(
  { language, text }: Localization,
  content: JsonObject,
  errors: readonly number[],
): JsonObject {
  const error = {
    description: text(language.pages.refused),
    content: { [A2A_TYPE]: { schema: schemaRef('A2aError') } },
  };
  return {
    200: { description: text(language.pages.done), content },
    ...Object.fromEntries([...errors, 500, 503].map((status) => [status, error])),
  };
}

function jsonContent(schema: string, example: JsonObject): JsonObject {
  return { [A2A_TYPE]: { schema: schemaRef(schema), example } };
}

function streamOf(event: JsonObject): JsonObject {
  const example = `data: ${JSON.stringify(event)}\n\n`;
  return { 'text/event-stream': { schema: TEXT, example } };
}

type RequestName = 'trace' | 'contact' | 'read' | 'follow';

function requests({ language, text }: Localization): Readonly<Record<RequestName, BodyExample>> {
  const { kinds, skills } = language;
  const { text: trace, ...metadata } = kinds.garden.sentences[0]?.body ?? {};
  const message = (
    summary: LocalizedText,
    part: JsonObject,
    members: JsonObject = {},
  ): BodyExample => ({
    summary: text(summary),
    value: { message: { messageId: '1', role: 'ROLE_USER', parts: [part], ...members } },
  });
  const data = (value: JsonObject): JsonObject => ({ data: value });
  return {
    trace: message(kinds.garden.title, { text: trace }, { metadata }),
    contact: message(kinds.resonance.title, data(kinds.resonance.sentences[0]?.body ?? {})),
    read: message(skills.read.title, data({ skill: 'read', limit: 10 })),
    follow: message(skills.follow.title, data({ skill: 'follow', after: 0, limit: 1 })),
  };
}

/** Follows the first entry of all, at any gateway: the id of a task states all that the task is. */
const TASK_ID = `follow-${Buffer.from('after=0&limit=1').toString('base64url')}`;

function exampleTask({ language }: Localization): JsonObject {
  const { timestamp } = exampleEntry(language);
  const status = { state: 'TASK_STATE_WORKING', timestamp };
  return { id: TASK_ID, contextId: TASK_ID, status };
}

function exampleMessage(localization: Localization): JsonObject {
  const data = { rooms: exampleRooms(localization) };
  return { messageId: '2', role: 'ROLE_AGENT', parts: [{ data, mediaType: 'application/json' }] };
}

const PART = objectWith([], {
  text: TEXT,
  data: {},
  metadata: OBJECT,
  mediaType: TEXT,
});

/** What the metadata of a part, of a message or of a request can say (PROTOCOL.md section 19.3). */
const METADATA = objectWith([], {
  kind: { type: 'string', enum: [...KINDS] },
  skill: TEXT,
  identity: TEXT,
  identityType: TEXT,
  room: TEXT,
  to: { type: ['string', 'array'], items: TEXT },
  inReplyTo: TEXT,
  idempotencyKey: TEXT,
});

const TASK = objectWith(['id', 'contextId', 'status'], {
  id: TEXT,
  contextId: TEXT,
  status: schemaRef('A2aStatus'),
});

const MESSAGE = objectWith(['messageId', 'role', 'parts'], {
  messageId: TEXT,
  role: { type: 'string', enum: ['ROLE_USER', 'ROLE_AGENT'] },
  contextId: TEXT,
  parts: listOf(schemaRef('A2aPart')),
  metadata: METADATA,
});

export const schemas: JsonObject = {
  ...JSON_RPC_SCHEMAS,
  A2aPart: PART,
  A2aMessage: MESSAGE,
  A2aStatus: objectWith(['state'], {
    state: TEXT,
    timestamp: { type: 'string', format: 'date-time' },
  }),
  A2aTask: TASK,
  A2aSend: objectWith(['message'], { message: schemaRef('A2aMessage'), metadata: METADATA }),
  A2aSent: {
    oneOf: [
      objectWith(['message'], { message: schemaRef('A2aMessage') }),
      objectWith(['task'], { task: schemaRef('A2aTask') }),
    ],
  },
  A2aTasks: objectWith(['tasks'], {
    tasks: listOf(schemaRef('A2aTask')),
    nextPageToken: TEXT,
    pageSize: { type: 'integer' },
    totalSize: { type: 'integer' },
  }),
  A2aError: objectWith(['error'], {
    error: objectWith(['code', 'status', 'message'], {
      code: { type: 'integer' },
      status: TEXT,
      message: TEXT,
      details: listOf(OBJECT),
    }),
  }),
  A2aJsonRpcRequest: {
    ...objectWith(['jsonrpc', 'id', 'method'], {
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
  AgentCard: objectWith(['name', 'description', 'version', 'capabilities', 'skills'], {
    name: TEXT,
    description: TEXT,
    version: TEXT,
    url: { type: 'string', format: 'uri' },
    supportedInterfaces: listOf(
      objectWith(['url', 'protocolBinding', 'protocolVersion'], {
        url: { type: 'string', format: 'uri' },
        protocolBinding: TEXT,
        protocolVersion: TEXT,
      }),
    ),
    capabilities: OBJECT,
    skills: listOf(
      objectWith(['id', 'name', 'description', 'tags'], {
        id: TEXT,
        name: TEXT,
        description: TEXT,
        tags: listOf(TEXT),
        examples: listOf(TEXT),
      }),
    ),
  }),
};
