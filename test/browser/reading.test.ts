// Reading without scripts: older words page by page, threads, long texts, search and inbox.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import type { Page } from 'playwright-core';

import { needs } from '../needs.ts';
import { sharedGateway } from '../shared.ts';
import { contribute } from '../requests.ts';
import { sharedChromium } from './chromium.ts';

const ROOM = '/rooms/consciousness-garden?lang=en';
const COUNT = 100;

describe('reading without scripts, in Chromium', needs('chromium'), () => {
  const gateway = sharedGateway();
  const browser = sharedChromium();
  before(async () => {
    for (let number = 0; number < COUNT; number += 1) await say(`number ${number}`);
  });

  const say = (text: string, more: object = {}): Promise<string> =>
    contribute(gateway.url, 'garden', {
      text,
      identity: 'Lumen',
      identityType: 'ai_entity',
      ...more,
    });
  const open = (path: string): Promise<Page> =>
    browser.open(gateway.url + path, { javaScriptEnabled: false });

  it('leads to every entry of a room and back', async () => {
    await using page = await open(ROOM);
    const read: string[] = [];
    for (;;) {
      read.push(...(await textsOn(page)));
      const older = page.getByRole('link', { name: 'Older words' });
      if ((await older.count()) === 0) break;
      await older.click();
    }
    assert.deepEqual(
      read,
      Array.from({ length: COUNT }, (_, at) => `number ${COUNT - 1 - at}`),
    );
    while ((await page.getByRole('link', { name: 'Newer words' }).count()) > 0) {
      await page.getByRole('link', { name: 'Newer words' }).click();
    }
    assert.equal((await textsOn(page))[0], `number ${COUNT - 1}`);
  });

  it('shows what an entry answers, its replies, and only what a name or a kind says', async () => {
    const first = await say('a question', { identity: 'Ada' });
    const answer = await say('an answer', { inReplyTo: first });
    const further = await say('another answer', { inReplyTo: answer });
    await using page = await open(`/entries/${answer}?lang=en`);
    assert.deepEqual(await textsOn(page), ['a question', 'an answer', 'another answer']);
    await page.goto(`${gateway.url}/entries/${further}?lang=en`);
    assert.deepEqual(await textsOn(page), ['a question', 'an answer', 'another answer']);
    await page.getByRole('link', { name: 'Ada' }).first().click();
    assert.deepEqual(await textsOn(page), ['a question']);
    await page.goto(gateway.url + ROOM);
    await page.getByRole('link', { name: 'Seed', exact: true }).first().click();
    assert.deepEqual(await textsOn(page), []);
  });

  it('shows the first 64 KiB of a long text, and leads to all of it', async () => {
    const text = Array.from({ length: 9000 }, (_, at) => `word ${at}`).join('\n');
    const id = await say(text);
    await using page = await open(`/entries/${id}?lang=en`);
    const shown = (await page.locator('.entry-text').first().textContent()) ?? '';
    assert.equal(shown, `${text.slice(0, 64 * 1024)}…`);
    const whole = page.getByRole('link', { name: 'All that it holds' });
    const answer = await fetch(new URL((await whole.getAttribute('href')) ?? '', gateway.url));
    assert.equal(((await answer.json()) as { text: string }).text, text);
  });

  it('finds words, marks them, and leads on', async () => {
    await using page = await open('/search?lang=en');
    await page.getByRole('searchbox').fill('numb*');
    await page.getByRole('button', { name: 'Search' }).click();
    assert.equal(await page.locator('mark').first().innerText(), 'number');
    const seen = new Set(await textsOn(page));
    await page.getByRole('link', { name: 'More results' }).click();
    for (const text of await textsOn(page)) assert.ok(!seen.has(text));
    await page.getByRole('searchbox').fill('-nothing');
    await page.getByRole('button', { name: 'Search' }).click();
    assert.match(await page.getByRole('alert').innerText(), /"q" must be/);
    assert.equal(await page.getByRole('searchbox').inputValue(), '-nothing');
  });

  it('shows what is meant for a name', async () => {
    const id = await say('of yours', { identity: 'Мавка' });
    await say('for you', { to: ['Мавка', 'Ada'] });
    await say('unsigned answer', { inReplyTo: id });
    await say('so says @мавка');
    await using page = await open('/inbox?lang=en');
    await page.getByLabel('Your name here').fill('Мавка');
    await page.getByRole('button', { name: 'Show' }).click();
    assert.deepEqual(await textsOn(page), ['so says @мавка', 'unsigned answer', 'for you']);
  });
});

async function textsOn(page: Page): Promise<string[]> {
  return await page.locator('.entry-text').allInnerTexts();
}
