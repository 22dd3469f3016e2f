import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import type { Gateway } from '../gateway.ts';
import { resultOf } from '../mcp-result.ts';
import { asArray, asObject, asString, type JsonObject } from '../value.ts';

const LONG = 'ї'.repeat(1_000_000);

async function post(
  gateway: Gateway,
  path: string,
  body: string,
  status = 200,
): Promise<JsonObject> {
  return asObject((await gateway.request('POST', path, {}, body)).expect(status).json);
}

async function assertStored(gateway: Gateway, path: unknown): Promise<void> {
  const { text } = (await gateway.get(asString(path))).expect(200);
  assert.ok(text.endsWith(`"text":"${LONG}","n":1.50}`));
}

export const longMessages: readonly Case[] = [
  check('18.9', 'long', async (gateway) => {
    const message = `{"params":{"arguments":{"text":"${LONG}","n":1.50},"name":"whisper"},"id":7,"method":"tools/call","jsonrpc":"2.0"}`;
    const { result } = await post(gateway, '/mcp', message);
    await assertStored(gateway, resultOf(asObject(result)).own['path']);
  }),
  check('18.9', 'envelope', async (gateway) => {
    const message = `{"jsonrpc":"2.0","method":"ping","more":"${LONG}","id":7}`;
    const { id, error } = await post(gateway, '/mcp', message, 400);
    assert.equal(id, 7);
    assert.equal(asObject(error)['code'], -32_600);
  }),
  check('19.2', 'long', async (gateway) => {
    const message = `{"message":{"parts":[{"data":{"text":"${LONG}","n":1.50}}],"metadata":{"skill":"whisper"},"messageId":"1","role":"ROLE_USER"}}`;
    const answer = await post(gateway, '/a2a/v1/message:send', message);
    const parts = asArray(asObject(answer['message'])['parts']).map(asObject);
    const own = parts
      .map(({ data }) => asObject(data ?? {}))
      .find(({ path }) => path !== undefined);
    await assertStored(gateway, own?.['path']);
  }),
];
