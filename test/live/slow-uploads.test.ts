// Callers who send a body byte by byte.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { startGatewayProcess } from '../gateway-process.ts';
import { residentOf } from './resident.ts';

const UPLOADS = 300;
const BYTES = 1000;
/** For each byte, besides what a connection takes. */
const MAX_PER_BYTE = 100;

test('uploads of a byte at a time hold little more than their bytes', async () => {
  await using gateway = await startGatewayProcess({
    args: ['--threads', '1'],
    env: { NODE_OPTIONS: '--max-semi-space-size=4' },
  });
  const { port, hostname } = new URL(gateway.url);
  const sockets = Array.from({ length: UPLOADS }, () => connect(Number(port), hostname));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const length = BYTES + '{"text":""}'.length;
  const head = `POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n{"text":"`;
  for (const socket of sockets) socket.setNoDelay().write(head);
  await pause(500);
  const before = await residentOf(gateway.pid);
  for (let sent = 0; sent < BYTES; sent += 1) {
    for (const socket of sockets) socket.write('.');
    await pause(1);
  }
  const growth = (await residentOf(gateway.pid)) - before;
  for (const socket of sockets) socket.write('"}');
  const answers = await Promise.all(sockets.map((socket) => once(socket, 'data')));
  for (const [answer] of answers) assert.match(String(answer), /^HTTP\/1\.1 201/);
  for (const socket of sockets) socket.destroy();
  assert.ok(growth < UPLOADS * BYTES * MAX_PER_BYTE, `grew by ${growth} bytes`);
});
