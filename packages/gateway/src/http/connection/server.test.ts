import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { test } from 'node:test';

import { openGateway } from '../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';

test('an error of accept is reported once, and the gateway goes on listening', async () => {
  const servers: Server[] = [];
  const onListen = (message: unknown): void => {
    servers.push((message as { server: Server }).server);
  };
  subscribe('tracing:net.server.listen:asyncEnd', onListen);
  await using gateway = await openGateway(openMemoryLog());
  unsubscribe('tracing:net.server.listen:asyncEnd', onListen);
  // As Node does it where libuv passes the error on.
  const fault = Object.assign(new Error('accept ENOBUFS'), { code: 'ENOBUFS', syscall: 'accept' });
  for (let count = 0; count < 3; count += 1) servers[0]?.emit('error', fault);
  assert.deepEqual(gateway.reported, [{ err: fault }]);
  assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200);
  assert.deepEqual(gateway.reported, [{ err: fault }, {}]);
});
