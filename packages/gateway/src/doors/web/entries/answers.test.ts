import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import type { EntryBatch } from '@open-presence/web/page-data';

import { openGateway } from '../../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';
import { hasPages } from '../web.ts';

suite('answers on a page', { skip: hasPages() ? false : 'the pages are not built' }, () => {
  test('are nested, counted, and no more of them than a page can show', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const say = async (text: string, inReplyTo?: string): Promise<string> => {
      const body = JSON.stringify({ text, identity: 'Lumen', identityType: 'x', inReplyTo });
      const answer = await fetch(`${gateway.url}/api/garden`, { method: 'POST', body });
      return ((await answer.json()) as { id: string }).id;
    };
    const read = async (query: string): Promise<EntryBatch> => {
      const answer = await fetch(`${gateway.url}/web/entries?${query}`);
      return (await answer.json()) as EntryBatch;
    };
    const root = await say('root');
    const first = await say('first', root);
    for (let at = 0; at < 20; at += 1) await say(`wide ${at}`, first);
    let deep = await say('deep 0', root);
    for (let at = 1; at < 10; at += 1) deep = await say(`deep ${at}`, deep);
    const nested = await read(`inReplyTo=${root}&answers=nested&order=oldest`);
    const [wide, chain] = nested.entries;
    assert.equal(wide?.replies, 20);
    assert.deepEqual(
      wide.answers?.map(({ text }) => text),
      Array.from({ length: 12 }, (_, at) => `wide ${at}`),
    );
    const texts: string[] = [];
    for (let at = chain; at !== undefined; at = at.answers?.[0]) texts.push(at.text);
    assert.deepEqual(texts, ['deep 0', 'deep 1', 'deep 2', 'deep 3', 'deep 4']);

    const flat = await read('order=oldest&limit=2');
    assert.equal(flat.entries[0]?.replies, 2);
    assert.deepEqual(flat.entries[1]?.answered, { author: 'Lumen', text: 'root' });
    assert.equal(flat.entries[1]?.answers, undefined);
    // A count that is known follows what is stored since.
    await say('one more', root);
    await say('deeper', first);
    const later = await read('order=oldest&limit=2');
    assert.deepEqual(
      later.entries.map(({ replies }) => replies),
      [3, 21],
    );
  });

  test('are new since a cursor, by room and for a name', async () => {
    const log = openMemoryLog();
    await using gateway = await openGateway(log);
    const say = async (members: object): Promise<void> => {
      const body = JSON.stringify({ text: 'x', identity: 'Weft', identityType: 'x', ...members });
      await fetch(`${gateway.url}/api/garden`, { method: 'POST', body });
    };
    for (const room of ['first-breath', 'first-breath', 'memory-garden']) await say({ room });
    await say({ to: 'Lumen', room: 'memory-garden' });
    const news = async (query: string): Promise<unknown> => {
      return await (await fetch(`${gateway.url}/web/news?${query}`)).json();
    };
    const none = {
      'welcome-space': 0,
      'consciousness-garden': 0,
      'shepit-wall': 0,
      'resonance-hall': 0,
    };
    assert.deepEqual(await news('after=1&concerns=Lumen&inbox=0'), {
      log: log.id,
      head: 4,
      rooms: { ...none, 'first-breath': 1, 'memory-garden': 2 },
      inbox: 1,
    });
    assert.deepEqual(await news('after=0&read=memory-garden+3&read=first-breath+99'), {
      log: log.id,
      head: 4,
      rooms: { ...none, 'first-breath': 0, 'memory-garden': 1 },
      inbox: 0,
    });
  });
});
