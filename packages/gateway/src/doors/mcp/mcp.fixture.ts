/** Callers of an open door that send MCP messages as they are spelled. */
import assert from 'node:assert/strict';
import { request } from 'node:http';

import { resultOf, type Result } from '../../../../../conformance/mcp-result.ts';
import { fetchBytes, type TestGateway } from '../../gateway.fixture.ts';

type Fields = Readonly<Record<string, unknown>>;

export function fields(value: unknown): Fields {
  assert.ok(typeof value === 'object' && value !== null, JSON.stringify(value));
  return { ...value };
}

export function list(value: unknown): unknown[] {
  assert.ok(Array.isArray(value));
  return value;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A message as it stands, and what comes back. */
export async function send(
  door: TestGateway,
  message: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(`${door.url}/mcp`, { method: 'POST', headers }, (answer) => {
    const { statusCode: status = 0 } = answer;
    Array.fromAsync(answer, (piece: Buffer) => piece).then((pieces) => {
      resolve({ status, text: Buffer.concat(pieces).toString() });
    }, reject);
  });
  sent.once('error', reject).end(message);
  return await promise;
}

/** The result of a call whose arguments are this text. */
export async function call(
  door: TestGateway,
  name: string,
  given: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const params = `{"name":"${name}","arguments":${given}}`;
  const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
  const { text } = await send(door, message, headers);
  return resultOf(fields(answerIn(text)['result']));
}

export function answerIn(text: string): Fields {
  return fields(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text));
}

/** The entry, as HTTP tells it. */
export async function entryAt(door: TestGateway, path: unknown): Promise<string> {
  return (await fetchBytes(door, String(path))).bytes.toString();
}

/** What the visitor said, as the entry has it. */
export function saidIn(entry: string): string {
  return (
    /^\{"id":"[^"]*","seq":\d+,"kind":"\w+","room":"[\w-]+","timestamp":"[^"]*",?(.*)\}$/s.exec(
      entry,
    )?.[1] ?? ''
  );
}

/** What a request of revision 2026-07-28 says of its client. */
export const CLIENT_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Listens for news of these resources; resolves when it is acknowledged. */
export async function subscribe(
  caller: Awaited<ReturnType<TestGateway['connect']>>,
  uris: readonly string[],
  id: number | string = 1,
): Promise<void> {
  const params = {
    notifications: { resourceSubscriptions: uris },
    _meta: CLIENT_META,
  };
  const message = JSON.stringify({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params });
  const head = [
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Method: subscriptions/listen',
    `Content-Length: ${message.length}`,
  ];
  caller.send(`${head.join('\r\n')}\r\n\r\n${message}`);
  await caller.until(/acknowledged[^]*\n\n/);
}
