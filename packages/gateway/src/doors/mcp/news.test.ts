import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openMemoryLog } from '../../stores/memory/memory.ts';
import { openDoor } from '../http/door.fixture.ts';
import { call } from './mcp.fixture.ts';

const META =
  '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';

test('subscribers are told of every room where it cannot be read which one has news', async () => {
  const log = openMemoryLog();
  await using door = await openDoor(log);
  await using caller = await door.connect();
  const room = 'presence://rooms/first-breath';
  const params = `{"notifications":{"resourceSubscriptions":["${room}"]},"_meta":${META}}`;
  const message = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":${params}}`;
  const head = [
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Method: subscriptions/listen',
    `Content-Length: ${message.length}`,
  ];
  caller.send(`${head.join('\r\n')}\r\n\r\n${message}`);
  await caller.until(/acknowledged[^]*\n\n/);
  log.tally = () => {
    throw new Error('The disk does not answer.');
  };
  await call(door, 'whisper', '{}');
  await caller.until(/resources\/updated[^]*first-breath/);
  assert.equal(door.reported.length, 1);
  caller.socket.destroy();
});
