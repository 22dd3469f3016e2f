/** The official clients of both major versions, as one kind of caller. */

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { resultOf, type Result } from '../../conformance/mcp-result.ts';
import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';
import { COMMAND } from '../command.ts';

const ME = { name: 'visitor', version: '1.0.0' };

/** How a client waits for a call that takes long. */
interface CallOptions {
  readonly timeout?: number;
  readonly resetTimeoutOnProgress?: boolean;
  readonly onprogress?: (progress: { progress: number; message?: string | undefined }) => void;
}

export interface Caller extends AsyncDisposable {
  call(name: string, given: JsonObject, options?: CallOptions): Promise<Result>;
  tools(): Promise<readonly JsonObject[]>;
  resources(): Promise<readonly string[]>;
  templates(): Promise<readonly string[]>;
  /** The texts of a resource, the gateway's own first. */
  read(uri: string): Promise<readonly string[]>;
  prompts(): Promise<readonly string[]>;
  prompt(name: string, given: Record<string, string>): Promise<string>;
}

export type Connect = (url: string) => Promise<Caller>;

const stdio = (url: string): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [COMMAND, 'mcp', '--url', url],
});

function modern(url: string, by: 'http' | 'stdio', mode: 'legacy' | 'auto'): Promise<Caller> {
  const client = new Client(ME, { versionNegotiation: { mode } });
  const transport =
    by === 'http'
      ? new StreamableHTTPClientTransport(new URL('/mcp', url))
      : new StdioClientTransport(stdio(url));
  return client.connect(transport).then(() => callerOf(client, client.callTool.bind(client)));
}

async function old(url: string, by: 'http' | 'stdio'): Promise<Caller> {
  const client = new OldClient(ME);
  await (by === 'http'
    ? client.connect(new OldHttp(new URL('/mcp', url)))
    : client.connect(new OldStdio(stdio(url))));
  return callerOf(client, (params, options) => client.callTool(params, undefined, options));
}

export const CLIENTS: Readonly<Record<string, Connect>> = {
  'version 2 over HTTP, 2026-07-28': (url) => modern(url, 'http', 'auto'),
  'version 2 over HTTP, with initialize': (url) => modern(url, 'http', 'legacy'),
  'version 2 over stdio, 2026-07-28': (url) => modern(url, 'stdio', 'auto'),
  'version 1 over HTTP': (url) => old(url, 'http'),
  'version 1 over stdio': (url) => old(url, 'stdio'),
};

type CallTool = (
  params: { name: string; arguments: Record<string, unknown> },
  options?: CallOptions,
) => Promise<JsonObject>;

function callerOf(client: Client | OldClient, callTool: CallTool): Caller {
  return {
    async call(name, given, options) {
      const result = await callTool({ name, arguments: { ...given } }, options);
      return resultOf(result);
    },
    tools: async () => asArray((await client.listTools()).tools).map(asObject),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate),
    async read(uri) {
      const { contents } = await client.readResource({ uri });
      return contents.map((content) => asString(asObject(content)['text']));
    },
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    async prompt(name, given) {
      const { messages } = await client.getPrompt({ name, arguments: given });
      return asString(asObject(messages[0]?.content)['text']);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
