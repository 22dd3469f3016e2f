// What programs use that are no browser: the package eventsource.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EventSource } from 'eventsource';

import { KINDS } from '../../conformance/entry.ts';
import { RestartableGateway } from './restartable-gateway.ts';
import { receivesAllAcrossRestarts, type ReceivedEvent } from './restarts.ts';

test('an EventSource hears every entry once and in order while the gateway dies and rests', async (context) => {
  await using gateway = await RestartableGateway.start();
  const source = new EventSource(`${gateway.url}/api/events`);
  using _ = { [Symbol.dispose]: () => source.close() };
  const heard: ReceivedEvent[] = [];
  const opened = Promise.withResolvers<void>();
  let fault: string | undefined;
  for (const kind of KINDS) {
    source.addEventListener(kind, ({ lastEventId, data }) => {
      heard.push({ id: lastEventId, kind, data: String(data) });
    });
  }
  source.addEventListener('head', () => opened.resolve());
  source.addEventListener('error', ({ code, message }) => {
    if (source.readyState === source.CLOSED) fault = `it gave up: ${code} ${message}`;
  });
  await opened.promise;
  const count = await receivesAllAcrossRestarts(gateway, {
    count() {
      assert.equal(fault, undefined);
      return Promise.resolve(heard.length);
    },
    received: () => Promise.resolve(heard),
  });
  context.diagnostic(`${count} entries`);
});
