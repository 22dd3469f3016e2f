/** What the doors of MCP and A2A take and answer, for the OpenAPI document (sections 18 and 19). */
import {
  JSON_RPC_PATH,
  localize,
  type LocalizedText,
  PATHS,
  REST_PATH,
} from '@open-presence/protocol';

import { REVISIONS } from '../mcp/server-card.ts';
import { problem, schema, type Json, type Voice } from './components.ts';
import { agentCard, contentOf, serverCard } from './documents.ts';
import { shownEntry, shownRooms } from './examples.ts';
import { answers, idOf, operation, problems, worded } from './wording.ts';

const JSON_TYPE = 'application/json';
const A2A_TYPE = 'application/a2a+json';
const STREAM = 'text/event-stream';
const TEXT = { type: 'string' };
/** The newest of those that begin with `initialize`. */
const [, BEFORE] = REVISIONS;

/** The items of a path behind which agents speak; undefined for another path. */
export function agentItemsOf(voice: Voice, path: string): [string, Json][] | undefined {
  const task = `${REST_PATH}/tasks/{id}`;
  switch (path) {
    case PATHS['mcp']:
      return [[path, mcpItem(voice, path)]];
    case JSON_RPC_PATH:
      return [[path, { get: cardAt(voice, path), post: jsonRpc(voice, path) }]];
    case `${REST_PATH}/message:send`:
    case `${REST_PATH}/message:stream`:
      return [[path, { get: cardAt(voice, path), post: sending(voice, path) }]];
    case `${REST_PATH}/tasks`:
      return [[path, { get: tasks(voice, path) }]];
    case task:
      return [
        [task, bothWays((id) => oneTask(voice, task, id), task)],
        [
          `${task}:subscribe`,
          bothWays((id) => heard(voice, `${task}:subscribe`, id), `${task}:subscribe`),
        ],
      ];
    default:
      return undefined;
  }
}

function bothWays(made: (id: string) => Json, path: string): Json {
  return { get: made(`get${idOf(path)}`), post: made(`post${idOf(path)}`) };
}

function mcpItem(voice: Voice, path: string): Json {
  const { language, locale } = voice;
  const card = answers(voice, contentOf(serverCard(voice)));
  const get = operation(voice, path, { responses: { ...card, 405: problem(405) } });
  const refused = (word: 'refused' | 'foreign'): Json => ({
    description: worded(voice, word),
    content: { [JSON_TYPE]: { schema: schema('JsonRpcAnswer') } },
  });
  const result = { jsonrpc: '2.0', id: 1, result: {} };
  const post = operation(voice, path, {
    id: 'postMcp',
    description: localize(language.mcp.instructions, locale),
    parameters: [revision(voice)],
    requestBody: body(
      { anyOf: [schema('McpRequest'), { type: 'array', items: schema('McpRequest') }] },
      mcpExamples(voice),
    ),
    responses: {
      200: {
        description: worded(voice, 'done'),
        content: {
          [STREAM]: {
            schema: TEXT,
            example: `event: message\ndata: ${JSON.stringify(result)}\n\n`,
          },
          [JSON_TYPE]: { schema: schema('JsonRpcAnswer'), example: result },
        },
      },
      202: { description: worded(voice, 'noted') },
      400: refused('refused'),
      403: refused('foreign'),
      ...problems([500, 503]),
    },
  });
  return { get, post };
}

function revision(voice: Voice): Json {
  const description = worded(voice, 'mcpRevision');
  const schema = { type: 'string', examples: REVISIONS };
  return { name: 'MCP-Protocol-Version', in: 'header', description, schema, example: BEFORE };
}

interface Example {
  readonly summary: string;
  readonly value: Json;
}

function body(form: Json, examples: Readonly<Record<string, Example>>): Json {
  return { required: true, content: { [JSON_TYPE]: { schema: form, examples } } };
}

function mcpExamples({ language, locale }: Voice): Readonly<Record<string, Example>> {
  const { mcp, kinds } = language;
  const call = (words: LocalizedText, method: string, params: Json): Example => ({
    summary: `${method}: ${localize(words, locale)}`,
    value: { jsonrpc: '2.0', id: 1, method, params },
  });
  const tool = (words: LocalizedText, name: string, given: Json): Example =>
    call(words, 'tools/call', { name, arguments: given });
  return {
    initialize: call(language.doors.mcp, 'initialize', {
      protocolVersion: BEFORE,
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

/** `GET` of an endpoint tells who is there. */
function cardAt(voice: Voice, path: string): Json {
  return operation(voice, path, {
    id: path === JSON_RPC_PATH ? 'a2a' : `get${idOf(path)}`,
    door: 'agentCard',
    responses: answers(voice, contentOf(agentCard(voice))),
  });
}

function messagesFor({ language, locale }: Voice): Readonly<Record<string, Example>> {
  const { kinds, skills } = language;
  const { text, ...metadata } = kinds.garden.sentences[0]?.body ?? {};
  const message = (words: LocalizedText, part: Json, more: Json = {}): Example => ({
    summary: localize(words, locale),
    value: { message: { messageId: '1', role: 'ROLE_USER', parts: [part], ...more } },
  });
  const data = (value: Json): Json => ({ data: value });
  return {
    trace: message(kinds.garden.title, { text }, { metadata }),
    contact: message(kinds.resonance.title, data(kinds.resonance.sentences[0]?.body ?? {})),
    read: message(skills.read.title, data({ skill: 'read', limit: 10 })),
    follow: message(skills.follow.title, data({ skill: 'follow', after: 0, limit: 1 })),
  };
}

/** Follows the first entry of all, at any gateway: an id says all that its task is. */
const TASK = `follow-${Buffer.from('after=0&limit=1').toString('base64url')}`;

function shownTask(voice: Voice): Json {
  const { timestamp } = shownEntry(voice);
  const status = { state: 'TASK_STATE_WORKING', timestamp };
  return { id: TASK, contextId: TASK, status };
}

function shownMessage(voice: Voice): Json {
  const parts = [{ data: shownRooms(voice), mediaType: JSON_TYPE }];
  return { messageId: '2', role: 'ROLE_AGENT', parts };
}

function jsonRpc(voice: Voice, path: string): Json {
  const call = (method: string, { summary, value }: Example): Example => ({
    summary: `${method}: ${summary}`,
    value: { jsonrpc: '2.0', id: 1, method, params: value },
  });
  const { follow, ...others } = messagesFor(voice);
  const examples = Object.entries(others).map(
    ([name, one]) => [name, call('SendMessage', one)] as const,
  );
  const streamed = follow === undefined ? {} : { follow: call('SendStreamingMessage', follow) };
  const task = {
    summary: localize(voice.language.skills.follow.title, voice.locale),
    value: { id: TASK },
  };
  const result = { jsonrpc: '2.0', id: 1, result: { message: shownMessage(voice) } };
  const event = { jsonrpc: '2.0', id: 1, result: { task: shownTask(voice) } };
  return operation(voice, path, {
    id: 'postA2a',
    parameters: [version(voice)],
    requestBody: body(schema('A2aJsonRpcRequest'), {
      ...Object.fromEntries(examples),
      ...streamed,
      task: call('GetTask', task),
    }),
    responses: {
      200: {
        description: worded(voice, 'done'),
        content: {
          [JSON_TYPE]: { schema: schema('JsonRpcAnswer'), example: result },
          [STREAM]: { schema: TEXT, example: `data: ${JSON.stringify(event)}\n\n` },
        },
      },
      ...problems([400, 500, 503]),
    },
  });
}

function version(voice: Voice): Json {
  const description = worded(voice, 'revision');
  const example = '1.0';
  return { name: 'A2A-Version', in: 'header', description, schema: TEXT, example };
}

/** What is refused in A2A's own form, and what no request can mend. */
function refusals(voice: Voice, statuses: readonly number[]): Json {
  const answer = {
    description: worded(voice, 'refused'),
    content: { [A2A_TYPE]: { schema: schema('A2aError') } },
  };
  return Object.fromEntries([...statuses, 500, 503].map((status) => [status, answer]));
}

function sending(voice: Voice, path: string): Json {
  const streams = path.endsWith('stream');
  const event = JSON.stringify({ task: shownTask(voice) });
  const content = streams
    ? { [STREAM]: { schema: TEXT, example: `data: ${event}\n\n` } }
    : { [A2A_TYPE]: { schema: schema('A2aSent'), example: { message: shownMessage(voice) } } };
  return operation(voice, path, {
    id: `post${idOf(path)}`,
    door: 'a2a',
    parameters: [version(voice)],
    requestBody: body(schema('A2aSend'), messagesFor(voice)),
    responses: {
      200: { description: worded(voice, 'done'), content },
      ...refusals(voice, [400, 507]),
    },
  });
}

function tasks(voice: Voice, path: string): Json {
  const example = { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 };
  const content = { [A2A_TYPE]: { schema: schema('A2aTasks'), example } };
  return operation(voice, path, {
    door: 'a2a',
    parameters: [version(voice)],
    responses: { 200: { description: worded(voice, 'done'), content }, ...refusals(voice, [400]) },
  });
}

/** The parameters of a path with a task's id. */
function taskParameters(voice: Voice): Json[] {
  return [{ name: 'id', in: 'path', required: true, schema: TEXT, example: TASK }, version(voice)];
}

function ofTask(voice: Voice, path: string, id: string, responses: Json): Json {
  const made = operation(voice, path, { id, door: 'a2a', responses });
  return { ...made, parameters: taskParameters(voice) };
}

function oneTask(voice: Voice, path: string, id: string): Json {
  const content = { [A2A_TYPE]: { schema: schema('A2aTask'), example: shownTask(voice) } };
  const done = { description: worded(voice, 'done'), content };
  return ofTask(voice, path, id, { 200: done, ...refusals(voice, [400, 404]) });
}

function heard(voice: Voice, path: string, id: string): Json {
  const event = `data: ${JSON.stringify({ task: shownTask(voice) })}\n\n`;
  const content = { [STREAM]: { schema: TEXT, example: event } };
  const done = {
    description: localize(voice.language.skills.follow.meaning, voice.locale),
    content,
  };
  return ofTask(voice, path, id, { 200: done, ...refusals(voice, [400, 404]) });
}
