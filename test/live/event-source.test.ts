// What programs use that are no browser: the package eventsource.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EventSource } from 'eventsource';

import { KINDS } from '../../conformance/entry.ts';
import { House } from './house.ts';
import { hearsAllAcrossRestarts, type Heard } from './listener.ts';

test('an EventSource hears every entry once and in order while the gateway dies and rests', async (context) => {
  await using house = await House.open();
  const source = new EventSource(`${house.url}/api/events`);
  using _ = { [Symbol.dispose]: () => source.close() };
  const heard: Heard[] = [];
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
  const count = await hearsAllAcrossRestarts(house, {
    count() {
      assert.equal(fault, undefined);
      return Promise.resolve(heard.length);
    },
    heard: () => Promise.resolve(heard),
  });
  context.diagnostic(`${count} entries`);
});
