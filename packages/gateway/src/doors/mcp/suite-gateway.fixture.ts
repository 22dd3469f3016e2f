/**
 * A gateway with the tools, prompts and resources that the official conformance suite asks for. The rest is the
 * real door: its socket, bodies, origins, streams and subscriptions.
 */
import { setTimeout as pause } from 'node:timers/promises';

import {
  fromJsonSchema,
  McpServer,
  ResourceTemplate,
  type ContentBlock,
  type GetPromptResult,
  type ServerContext,
} from '@modelcontextprotocol/server';

import { asString, type JsonObject } from '../../../../../conformance/value.ts';
import { openGateway, type TestGateway } from '../../gateway.fixture.ts';
import { Router } from '../../http/router.ts';
import type { DoorContext } from '../context.ts';
import { receiveMessages } from './mcp.ts';
import { SdkHandler } from './sdk-handler.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { addAsking, STATE } from './suite-input-requests.fixture.ts';

export async function startSuiteGateway(): Promise<TestGateway> {
  const mcp = receiveMessages(async (app) => new SdkHandler(app, suiteServer));
  const get = [{ type: 'application/json', handle: mcp }];
  const door = { routes: [{ path: '/mcp', get, post: mcp }] };
  const router = new Router<DoorContext>({ mcp: door }, () => {});
  return await openGateway(openMemoryLog(), { router });
}

function suiteServer(): McpServer {
  const capabilities = {
    tools: { listChanged: false },
    resources: { subscribe: true, listChanged: false },
    prompts: { listChanged: false },
    logging: {},
  };
  const info = { name: 'suite', version: '1.0.0' };
  const verify = (state: string, context: ServerContext): Promise<number> =>
    STATE.verify(state, context);
  const server = new McpServer(info, { capabilities, requestState: { verify } });
  addTools(server);
  addResources(server);
  addPrompts(server);
  addAsking(server);
  return server;
}

/** Nobody looks at what it shows. */
const PICTURE = Buffer.from('a picture').toString('base64');
const image: ContentBlock = { type: 'image', data: PICTURE, mimeType: 'image/png' };
const audio: ContentBlock = { type: 'audio', data: PICTURE, mimeType: 'audio/wav' };
const words: ContentBlock = { type: 'text', text: 'Тиша.' };
const resource: ContentBlock = {
  type: 'resource',
  resource: { uri: 'test://embedded', mimeType: 'text/plain', text: 'Тиша.' },
};

/** With every keyword that must come through to the client. */
const CONTACT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'place', type: 'object', properties: { city: {} } } },
  properties: { by: { enum: ['phone', 'post'] }, phone: {}, address: { $ref: '#/$defs/address' } },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['address'] }] }],
  if: { properties: { by: { const: 'phone' } }, required: ['by'] },
  // oxlint-disable-next-line unicorn/no-thenable
  then: { required: ['phone'] },
  else: { required: ['address'] },
  additionalProperties: false,
} as const;

const IN_HEADER = {
  type: 'object',
  properties: { room: { type: 'string', 'x-mcp-header': 'Room' } },
} as const;

function addTools(server: McpServer): void {
  const tool = (name: string, ...content: ContentBlock[]): void => {
    server.registerTool(name, { description: name }, () => ({ content }));
  };
  tool('test_simple_text', words);
  tool('test_image_content', image);
  tool('test_audio_content', audio);
  tool('test_embedded_resource', resource);
  tool('test_multiple_content_types', words, image, resource);
  const description = 'a tool of the suite';
  server.registerTool('test_error_handling', { description }, () => {
    throw new Error('It fails, as it should.');
  });
  server.registerTool('test_tool_with_progress', { description }, async ({ mcpReq }) => {
    for (const progress of [0, 50, 100]) {
      await progressed(mcpReq, progress);
      await pause(20);
    }
    return { content: [words] };
  });
  for (const name of ['test_tool_with_logging', 'test_logging_tool']) {
    server.registerTool(name, { description }, async ({ mcpReq }) => {
      for (const said of ['begun', 'under way', 'done']) await mcpReq.log('info', said);
      return { content: [words] };
    });
  }
  const contact = fromJsonSchema(CONTACT);
  const inHeader = fromJsonSchema(IN_HEADER);
  const told = (): { content: ContentBlock[] } => ({ content: [words] });
  server.registerTool('json_schema_2020_12_tool', { description, inputSchema: contact }, told);
  server.registerTool('in_header', { description, inputSchema: inHeader }, told);
}

async function progressed(
  { _meta: meta, notify }: ServerContext['mcpReq'],
  progress: number,
): Promise<void> {
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return;
  const params = { progressToken, progress, total: 100 };
  await notify({ method: 'notifications/progress', params });
}

function addResources(server: McpServer): void {
  const picture = { uri: 'test://static-binary', mimeType: 'image/png', blob: PICTURE };
  const plain = { uri: 'test://static-text', mimeType: 'text/plain', text: 'Тиша.' };
  for (const one of [plain, picture]) {
    const { uri, mimeType } = one;
    server.registerResource(uri, uri, { mimeType }, () => ({ contents: [one] }));
  }
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, {}, ({ href }, { id }) => ({
    contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id }) }],
  }));
}

function addPrompts(server: McpServer): void {
  const prompt = (name: string, ...contents: ContentBlock[]): void => {
    server.registerPrompt(name, { description: name }, () => asked(...contents));
  };
  prompt('test_simple_prompt', words);
  prompt('test_prompt_with_image', image, words);
  for (const [name, ...members] of [
    ['test_prompt_with_arguments', 'arg1', 'arg2'],
    ['test_prompt_with_embedded_resource', 'resourceUri'],
  ] as const) {
    const properties = Object.fromEntries(members.map((member) => [member, { type: 'string' }]));
    const argsSchema = fromJsonSchema<JsonObject>({
      type: 'object',
      properties,
      required: members,
    });
    server.registerPrompt(name, { description: name, argsSchema }, (given) => {
      const { resourceUri } = given;
      const named: ContentBlock = { type: 'text', text: JSON.stringify(given) };
      if (resourceUri === undefined) return asked(named);
      return asked(
        { type: 'resource', resource: { uri: asString(resourceUri), text: 'Тиша.' } },
        named,
      );
    });
  }
}

function asked(...contents: ContentBlock[]): GetPromptResult {
  return { messages: contents.map((content) => ({ role: 'user', content })) };
}
