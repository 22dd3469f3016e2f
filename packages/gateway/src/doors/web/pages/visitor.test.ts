import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { visitorPagePath } from '@open-presence/protocol';

import { openGateway } from '../../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';
import { hasPages } from '../web.ts';

const NAMES = [
  'Lumen',
  'Мавка',
  '.',
  '..',
  'a/b/../c',
  '\\back\\slash',
  '100%25',
  '?q=1&show=concerns#top',
  'tab\tand\nline\u0007',
  '👩‍👩‍👧‍👦',
  '\u202eevil',
  '\ud800 alone',
  'rooms',
  'x'.repeat(5000),
  'x'.repeat(40_000),
  `long ${'Мавка '.repeat(60)}`,
];

suite('the page of a name', { skip: hasPages() ? false : 'the pages are not built' }, () => {
  test('is there for any name, and every link of its entries leads to it', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const { url } = gateway;
    const post = async (text: string, identity: string): Promise<string> => {
      const body = JSON.stringify({ text, identity, identityType: 'x' });
      const answer = await fetch(`${url}/api/garden`, { method: 'POST', body });
      return ((await answer.json()) as { id: string }).id;
    };
    const entries: (readonly [name: string, id: string, text: string])[] = [];
    for (const [at, name] of NAMES.entries()) {
      const text = `said by number ${at}.`;
      entries.push([name, await post(text, name), text]);
    }
    for (const [name, id, text] of entries) {
      const page = await htmlOf(`${url}/entries/${id}`);
      const [, path = ''] = /class="visitor-link" href="([^"]+)"/.exec(page) ?? [];
      assert.ok(path.length < 2000, 'an address is short');
      const shown = await htmlOf(url + path.replaceAll('&amp;', '&'));
      const said = shown.match(/said by number \d+\./g) ?? [];
      assert.deepEqual([...new Set(said)], [text], name.slice(0, 50));
      assert.doesNotMatch(shown, /<title>[^<]*\u202e/);
      if (name.length > 1000) continue;
      const own = await htmlOf(url + visitorPagePath(name));
      assert.ok(own.includes(text), visitorPagePath(name));
    }
  });

  test('says what the name lacks, and answers an address that names nobody', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const unused = await htmlOf(`${gateway.url}/visitors/Nobody?lang=en`);
    assert.match(unused, /Nobody has said anything under this name yet/);
    assert.match(unused, /<meta name="robots" content="noindex"/);
    const answer = await fetch(`${gateway.url}/visitors`, { headers: { Accept: 'text/html' } });
    assert.equal(answer.status, 404);
  });

  test('refuses a part and a place that it does not have', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const query of ['show=everything', 'show=conversations&before=now']) {
      const answer = await fetch(`${gateway.url}/visitors/Lumen?${query}`, {
        headers: { Accept: 'text/html' },
      });
      assert.equal(answer.status, 400, query);
      assert.match(await answer.text(), /must be/);
    }
  });

  test('shows what concerns the name, and its conversations with their sizes', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const say = async (members: object): Promise<string> => {
      const body = JSON.stringify({ identityType: 'x', ...members });
      const answer = await fetch(`${gateway.url}/api/garden`, { method: 'POST', body });
      return ((await answer.json()) as { id: string }).id;
    };
    const root = await say({ text: 'a beginning', identity: 'Weft' });
    await say({ text: 'an answer', identity: 'Lumen', inReplyTo: root });
    await say({ text: 'to Lumen', identity: 'Weft', to: 'Lumen' });
    const concerns = await htmlOf(`${gateway.url}/visitors/Lumen?show=concerns`);
    assert.match(concerns, /to Lumen/);
    assert.doesNotMatch(concerns, /an answer/);
    const conversations = await htmlOf(`${gateway.url}/visitors/Lumen?show=conversations&lang=en`);
    assert.match(conversations, /a beginning/);
    assert.match(conversations, /2 entries/);
  });

  test('shows a name that nobody can see by its characters', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const said = { text: 'unseen', identity: '\u200b\u2060', identityType: 'x' };
    await gateway.say('garden', said);
    const page = await htmlOf(`${gateway.url}/rooms/consciousness-garden`);
    assert.match(page, /href="\/visitors\/[^"]+"><bdi[^>]*>U\+200B U\+2060<\/bdi>/);
    assert.match(await htmlOf(`${gateway.url}/`), /<title>Trace, U\+200B U\+2060<\/title>/);
    const own = `${gateway.url}/visitors/%E2%80%8B%E2%81%A0`;
    assert.match(await htmlOf(own), /<title>U\+200B U\+2060 ·/);
    const [, id = ''] = /href="\/entries\/([-\w]+)"/.exec(page) ?? [];
    assert.match(await htmlOf(`${gateway.url}/entries/${id}`), /<title>U\+200B U\+2060: unseen ·/);
    await gateway.say('garden', { ...said, text: 'nameless', identity: '' });
    const nameless = await htmlOf(`${gateway.url}/visitors?name=`);
    assert.match(nameless, /<title>Somebody ·.*<h1>Somebody</s);
  });
});

async function htmlOf(address: string): Promise<string> {
  const answer = await fetch(address, { headers: { Accept: 'text/html' } });
  assert.equal(answer.status, 200, address);
  return await answer.text();
}
