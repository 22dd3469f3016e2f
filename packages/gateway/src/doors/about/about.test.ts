import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openMemoryLog } from '../../stores/memory/memory.ts';
import { ask, openDoor } from '../http/door.fixture.ts';

suite('what the gateway says of itself', () => {
  test('at / varies by what is preferred, whichever form that is', async () => {
    await using door = await openDoor(openMemoryLog());
    for (const accept of ['application/json', 'text/markdown', 'text/html', 'text/plain']) {
      const { headers } = await ask(door, '/', { accept });
      assert.match(String(headers['vary']), /^Accept, /, accept);
    }
    assert.doesNotMatch(String((await ask(door, '/api')).headers['vary']), /Accept,/);
  });

  test('lets browsers find the feeds', async () => {
    await using door = await openDoor(openMemoryLog());
    const page = (await ask(door, '/', { accept: 'text/html' })).bytes.toString();
    const found = page.matchAll(
      /<link rel="alternate" type="([^"]*)" href="([^"]*)" title="[^"]+">/g,
    );
    const feeds = Array.from(found, ([, type, href = '']) => [type, new URL(href).pathname]);
    assert.deepEqual(feeds, [
      ['application/atom+xml', '/feed.atom'],
      ['application/feed+json', '/feed.json'],
    ]);
  });

  test('is where errors lead, also of what is not HTTP', async () => {
    await using door = await openDoor(openMemoryLog());
    const answer = await door.talk('GET /api/garden?q=\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.match(answer, /\r\nLink: <\/openapi\.json>; rel="service-desc"/);
    assert.match(answer, /\r\nCache-Control: no-store\r\n/);
  });
});
