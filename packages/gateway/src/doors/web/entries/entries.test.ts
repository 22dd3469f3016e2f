import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';
import { openGateway } from '../../../gateway.fixture.ts';
import { hasPages } from '../web.ts';

suite(
  'entries for the scripts of pages',
  { skip: hasPages() ? false : 'the pages are not built' },
  () => {
    test('are HTML as a list shows it, in the language of the page', async () => {
      await using gateway = await openGateway(openMemoryLog());
      const id = await gateway.say('seeds', { text: '<b>one</b>' });
      const read = async (query: string): Promise<string> =>
        await (await fetch(`${gateway.url}/web/entries/${id}?${query}`)).text();
      const html = await read('lang=uk&view=rooms');
      assert.match(html, /^<article class="entry" id="e1"/);
      assert.match(html, /&lt;b>one&lt;\/b>/);
      assert.match(html, /href="\/rooms\/memory-garden\?lang=uk"/);
      assert.match(html, /Відповісти/);
      assert.doesNotMatch(await read('lang=en'), /memory-garden/);
      assert.equal((await fetch(`${gateway.url}/web/entries/none`)).status, 404);
    });

    test('come as they are stored, once and from any cursor on', async () => {
      await using gateway = await openGateway(openMemoryLog());
      await gateway.say('seeds', { text: 'one' });
      const long = await gateway.say('seeds', { text: 'long'.repeat(50_000) });
      await using caller = await gateway.connect();
      caller.send('GET /web/events?after=1&kind=seeds&lang=en HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await caller.until(/event: head/);
      await gateway.say('shepit', { text: 'of another kind' });
      await gateway.say('seeds', { text: 'an answer', inReplyTo: long });
      const received = await caller.until(/an answer.*\n\n/);
      const entries = [...received.matchAll(/^data: ("<article.*)$/gm)].map(([, json = '']) =>
        String(JSON.parse(json)),
      );
      assert.deepEqual(
        entries.map((html) => /id="e(\d+)"/.exec(html)?.[1]),
        ['2', '4'],
      );
      assert.ok(entries.every((html) => html.length < 4000));
    });

    test('lead from lists to their page, which leads to all of a long one', async () => {
      await using gateway = await openGateway(openMemoryLog());
      const id = await gateway.say('seeds', { text: 'long'.repeat(50_000) });
      const headers = { Accept: 'text/html' };
      const room = await (await fetch(`${gateway.url}/rooms/memory-garden`, { headers })).text();
      assert.match(room, new RegExp(`href="/entries/${id}">Read on</a>`));
      const own = await (await fetch(`${gateway.url}/entries/${id}`, { headers })).text();
      assert.ok(own.includes('long'.repeat(16 * 1024)));
      assert.match(own, new RegExp(`href="/api/entries/${id}\\?format=json">All that it holds`));
    });
  },
);
