import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openMemoryLog } from '../../stores/memory/memory.ts';
import { openGateway } from '../../gateway.fixture.ts';
import { call, subscribe } from './mcp.fixture.ts';

test('subscribers are told of every room where it cannot be read which one has news', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  await using caller = await door.connect();
  const room = 'presence://rooms/first-breath';
  await subscribe(caller, [room]);
  log.roomCounts = () => {
    throw new Error('The disk does not answer.');
  };
  await call(door, 'whisper', '{}');
  await caller.until(/resources\/updated[^]*first-breath/);
  assert.equal(door.reported.length, 1);
  caller.socket.destroy();
});
