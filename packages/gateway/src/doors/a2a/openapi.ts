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
  responseKey,
  schemaRef,
  TEXT,
} from '../openapi-parts.ts';
import { A2A_TYPE, cardOf } from './agent-card.ts';

export function content(localization: Localization): Record<string, Content> {
  const schema = schemaRef('AgentCard');
  const card = cardOf(localization, EXAMPLE_ADDRESS);
  // One skill shows what all of them look like.
  return {
    AgentCard: { schema, example: { ...card, skills: card.skills.slice(0, 1) } },
  };
}

export function operations(localization: Localization): Record<string, OperationDetails> {
  const { language, text } = localization;
  const tasks = `${REST_PATH}/tasks`;
  const headers = [version(localization)];
  const id = { name: 'id', in: 'path', required: true, schema: TEXT, example: TASK_ID } as const;
  const sending = {
    parameters: headers,
    requestBody: jsonBody(schemaRef('A2aSend'), { ...requests(localization) }),
    errors: [400],
  };
  const ofTask = { parameters: [id, ...headers], errors: [400, 404] };
  const task = exampleTask(localization);
  const sent = jsonContent('A2aSent', { message: exampleMessage(localization) });
  const list = { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 };
  const operation = restOperation(localization);
  const readTask = operation({ ...ofTask, content: jsonContent('A2aTask', task) });
  const subscribe = operation({
    ...ofTask,
    content: streamOf({ task }),
    meaning: text(language.skills.follow.meaning),
  });
  return {
    [`POST ${JSON_RPC_PATH}`]: jsonRpcOperation(localization),
    [`POST ${REST_PATH}/message:send`]: operation({ ...sending, content: sent }),
    [`POST ${REST_PATH}/message:stream`]: operation({ ...sending, content: streamOf({ task }) }),
    [`GET ${tasks}`]: operation({
      parameters: headers,
      content: jsonContent('A2aTasks', list),
      errors: [400],
    }),
    [`GET ${tasks}/{id}`]: readTask,
    [`POST ${tasks}/{id}`]: readTask,
    [`GET ${tasks}/{id}:subscribe`]: subscribe,
    [`POST ${tasks}/{id}:subscribe`]: subscribe,
  };
}

interface RestOperation extends Pick<OperationDetails, 'parameters' | 'requestBody'> {
  readonly content: JsonObject;
  readonly errors: readonly number[];
  /** What an answer with the status 200 means. */
  readonly meaning?: string;
}

/** Describes an operation of the HTTP+JSON binding. Its errors are in A2A's own form. */
function restOperation({ language, text }: Localization): (of: RestOperation) => OperationDetails {
  const { done, refused } = language.pages;
  const error = {
    description: text(refused),
    content: { [A2A_TYPE]: { schema: schemaRef('A2aError') } },
  };
  return ({ content, errors, meaning = text(done), ...details }) => ({
    door: 'a2a',
    ...details,
    responses: {
      200: { description: meaning, content },
      ...Object.fromEntries([...errors, 500].map((status) => [responseKey(status), error])),
    },
  });
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
      ...problems([400, 500]),
    },
  };
}

function version({ language, text }: Localization): ParameterDescription {
  const description = text(language.pages.revision);
  return { name: 'A2A-Version', in: 'header', description, schema: TEXT, example: '1.0' };
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

export const schemas: JsonObject = {
  ...JSON_RPC_SCHEMAS,
  A2aPart: objectWith([], {
    text: TEXT,
    data: {},
    metadata: OBJECT,
    mediaType: TEXT,
  }),
  A2aMessage: objectWith(['messageId', 'role', 'parts'], {
    messageId: TEXT,
    role: { type: 'string', enum: ['ROLE_USER', 'ROLE_AGENT'] },
    contextId: TEXT,
    parts: listOf(schemaRef('A2aPart')),
    metadata: METADATA,
  }),
  A2aStatus: objectWith(['state'], {
    state: TEXT,
    timestamp: { type: 'string', format: 'date-time' },
  }),
  A2aTask: objectWith(['id', 'contextId', 'status'], {
    id: TEXT,
    contextId: TEXT,
    status: schemaRef('A2aStatus'),
  }),
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
  AgentCard: objectWith(['name', 'description', 'version', 'url', 'capabilities', 'skills'], {
    name: TEXT,
    description: TEXT,
    version: TEXT,
    protocolVersion: TEXT,
    url: { type: 'string', format: 'uri' },
    preferredTransport: TEXT,
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
