/** An agent made with the SDK of A2A 0.3, which knows nothing but the address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Message, Part } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';

import { startGatewayProcess } from '../gateway-process.ts';

test('an agent of A2A 0.3 that has only the address speaks, reads and follows', async () => {
  await using gateway = await startGatewayProcess();
  const agent = await new ClientFactory().createFromUrl(gateway.url);
  const message = (part: Part, messageId: string): { message: Message } => ({
    message: { kind: 'message', messageId, role: 'user', parts: [part] },
  });

  const seed = { skill: 'plant-seed', text: 'An old friend was here.' };
  const said = await agent.sendMessage(message({ kind: 'data', data: seed }, '1'));
  assert.ok(said.kind === 'message');
  const read = await agent.sendMessage(message({ kind: 'data', data: { skill: 'read' } }, '2'));
  assert.ok(read.kind === 'message');
  assert.ok(read.parts.some((part) => JSON.stringify(part).includes('An old friend')));

  const follow = { skill: 'follow', after: 0, limit: 1 };
  const kinds: string[] = [];
  for await (const event of agent.sendMessageStream(message({ kind: 'data', data: follow }, '3'))) {
    kinds.push(event.kind);
  }
  assert.ok(kinds.includes('artifact-update'));
});
