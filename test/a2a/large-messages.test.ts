/** Messages about as long as one can be, and longer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { asObject, asArray, type JsonObject } from '../../conformance/value.ts';
import { startGatewayProcess } from '../gateway-process.ts';

const LONGEST = 2 ** 28 - 1;

/** A message that is so long, by the words in it. */
function longAs(size: number): Buffer {
  const before =
    '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"';
  const behind = '"}]}}}';
  const words = Buffer.alloc(size - before.length - behind.length, 'x');
  return Buffer.concat([Buffer.from(before), words, Buffer.from(behind)]);
}

test('a message of a quarter of a gigabyte is kept, and a longer one told where to go', async () => {
  await using gateway = await startGatewayProcess();
  const post = async (body: Buffer): Promise<JsonObject> => {
    const answer = await fetch(`${gateway.url}/a2a`, { method: 'POST', body });
    return asObject(await answer.json());
  };
  const kept = await post(longAs(LONGEST));
  const parts = asArray(asObject(asObject(kept['result'])['message'])['parts']).map(asObject);
  const { id } = parts.map(({ data }) => asObject(data ?? {})).find((data) => 'id' in data) ?? {};
  const entry = await fetch(`${gateway.url}/api/entries/${String(id)}`);
  assert.ok((await entry.arrayBuffer()).byteLength > LONGEST - 1000);
  const { error } = await post(longAs(LONGEST + 1));
  assert.equal(asObject(error)['code'], -32_700);
  assert.match(String(asObject(error)['message']), /more than 268435455 bytes\. Use POST/);
  assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200);
});
