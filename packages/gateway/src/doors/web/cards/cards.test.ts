import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { HOSTILE_TEXTS } from '../../../../../../test/browser/hostile-texts.ts';
import { openGateway } from '../../../gateway.fixture.ts';
import { openMemoryLog } from '../../../stores/memory/memory.ts';
import { hasPages } from '../web.ts';

const NAMES = ['Мавка', 'a/b', '\u202eevil', '李白', '👩‍👩‍👧‍👦', 'tab\tand\u0007', 'x'.repeat(5000)];

suite('cards', { skip: hasPages() ? false : 'the pages are not built' }, () => {
  test('are the pictures that pages name, whatever is said there and by whom', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const { url } = gateway;
    const texts = [
      ...HOSTILE_TEXTS.map(({ text }) => text),
      'Тихо.',
      '你好，世界。',
      'مرحبا',
      '',
      '&<',
    ];
    for (const [at, text] of texts.entries()) {
      const id = await say(url, text, NAMES[at % NAMES.length] ?? '');
      await pictureOf(`${url}/entries/${id}`);
    }
    const ids = await Promise.all(NAMES.map((name) => say(url, 'again', name)));
    const pages = ids.map((id) => `${url}/visitors?by=${id}`);
    for (const page of [...pages, `${url}/rooms/consciousness-garden`, url]) await pictureOf(page);
  });

  test('show the words of their page, are drawn once, and lose what is withheld', async () => {
    const log = openMemoryLog();
    await using gateway = await openGateway(log);
    const { url } = gateway;
    const [one, other] = [await say(url, 'one', 'A'), await say(url, 'other', 'A')];
    const shown = await pictureOf(`${url}/entries/${one}`);
    assert.notDeepEqual(shown.bytes, (await pictureOf(`${url}/entries/${other}`)).bytes);
    const again = await fetch(shown.address, { headers: { 'If-None-Match': shown.tag } });
    assert.equal(again.status, 304);
    await log.withhold([1], 'Asked for by its author');
    const withheld = await fetch(shown.address, { headers: { 'If-None-Match': shown.tag } });
    assert.equal(withheld.status, 200);
    assert.notDeepEqual(await bytesOf(withheld), shown.bytes);
    const unknown = `${url}/web/cards/entries/${one.replace(/^./, 'f')}`;
    assert.equal((await fetch(unknown)).status, 404);
    assert.equal((await fetch(`${url}/web/cards/rooms/nowhere`)).status, 404);
  });

  test('tell names apart that nobody can see', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const cards = ['\u200b', '\u2060'].map(
      (name) => `${gateway.url}/web/cards/visitors/${encodeURIComponent(name)}`,
    );
    const [one, other] = await Promise.all(cards.map(async (card) => bytesOf(await fetch(card))));
    assert.notDeepEqual(one, other);
  });

  test('hold up no other request', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const { url } = gateway;
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, at) => say(url, `number ${at}`, 'A')),
    );
    let drawn = 0;
    const drawing = ids.map(async (id) => {
      await bytesOf(await fetch(`${url}/web/cards/entries/${id}`));
      drawn += 1;
    });
    const answer = await fetch(`${url}/api/garden?limit=1`);
    assert.equal(answer.status, 200);
    assert.ok(drawn < ids.length, 'it is answered before all are drawn');
    await Promise.all(drawing);
  });
});

async function say(url: string, text: string, identity: string): Promise<string> {
  const body = JSON.stringify({ text, identity, identityType: 'x' });
  const answer = await fetch(`${url}/api/garden`, { method: 'POST', body });
  return ((await answer.json()) as { id: string }).id;
}

/** What the page names as its picture: PNG, 1200 by 630 pixels. */
async function pictureOf(
  page: string,
): Promise<{ readonly address: string; readonly tag: string; readonly bytes: Buffer }> {
  const html = await (await fetch(page, { headers: { Accept: 'text/html' } })).text();
  const [, address = ''] = /property="og:image" content="([^"]+)"/.exec(html) ?? [];
  assert.match(address, /\/web\/cards/);
  const answer = await fetch(address.replaceAll('&amp;', '&'));
  assert.equal(answer.status, 200, address);
  assert.equal(answer.headers.get('content-type'), 'image/png');
  const bytes = await bytesOf(answer);
  assert.equal(bytes.toString('latin1', 1, 4), 'PNG');
  assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1200, 630]);
  return { address, tag: answer.headers.get('etag') ?? '', bytes };
}

async function bytesOf(answer: Response): Promise<Buffer> {
  return Buffer.from(await answer.arrayBuffer());
}
