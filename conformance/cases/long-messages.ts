import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import type { Gateway } from '../gateway.ts';
import { asObject, asString } from '../value.ts';

/** A message that is longer than 1 MiB is refused, with where a long entry is taken. */
async function assertTooLong(gateway: Gateway, path: string, status: number): Promise<void> {
  const message = `{"jsonrpc":"2.0","id":7,"method":"ping","more":"${'x'.repeat(1024 * 1024)}"}`;
  const answer = await gateway.request('POST', path, {}, message);
  const error = asObject(answer.expect(status).json['error']);
  assert.equal(error['code'], -32_600);
  assert.match(asString(error['message']), /1 MiB.*POST.*\/api\/garden/);
}

export const longMessages: readonly Case[] = [
  check('18.9', 'long', (gateway) => assertTooLong(gateway, '/mcp', 400)),
  check('19.2', 'long', (gateway) => assertTooLong(gateway, '/a2a', 200)),
];
