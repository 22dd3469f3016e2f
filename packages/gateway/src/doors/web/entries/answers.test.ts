import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

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
    const pageOf = async (path: string): Promise<string> => {
      const headers = { Accept: 'text/html', 'Accept-Language': 'en' };
      return await (await fetch(gateway.url + path, { headers })).text();
    };
    const root = await say('root');
    const first = await say('first', root);
    for (let at = 0; at < 20; at += 1) await say(`wide ${at}`, first);
    let deep = await say('deep 0', root);
    for (let at = 1; at < 10; at += 1) deep = await say(`deep ${at}`, deep);
    const nested = await pageOf(`/entries/${root}`);
    const texts = Array.from(
      nested.matchAll(/dir="auto">((?:wide|deep) \d+)</g),
      ([, text]) => text,
    );
    assert.deepEqual(texts, [
      ...Array.from({ length: 12 }, (_, at) => `wide ${at}`),
      ...Array.from({ length: 5 }, (_, at) => `deep ${at}`),
    ]);
    assert.match(nested, />8 more replies</);

    const room = '/rooms/consciousness-garden?order=oldest&limit=2';
    const flat = await pageOf(room);
    assert.match(flat, /#replies">2 replies</);
    assert.match(flat, /<bdi>Lumen<\/bdi>: <bdi>root<\/bdi>/);
    await say('one more', root);
    await say('deeper', first);
    const later = await pageOf(room);
    assert.match(later, />3 replies<.*>21 replies</s);
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
