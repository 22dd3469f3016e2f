// Reading without scripts: older words page by page, threads, long texts, search and inbox.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import type { Browser, Page } from 'playwright-core';

import { asObject, asString } from '../../conformance/value.ts';
import { startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';
import { startChromium } from './chromium.ts';
import { needs } from '../needs.ts';

const ROOM = '/rooms/consciousness-garden?lang=en';
const COUNT = 100;

describe('reading without scripts, in Chromium', needs('chromium'), () => {
  const owned = new AsyncDisposableStack();
  let gateway: GatewayProcess;
  let browser: Browser;
  before(async () => {
    gateway = owned.use(await startGatewayProcess());
    for (let number = 0; number < COUNT; number += 1) await say(`number ${number}`);
    browser = await startChromium();
    owned.defer(() => browser.close());
  });
  after(() => owned.disposeAsync());

  async function say(text: string, more: object = {}): Promise<string> {
    const answer = await fetch(`${gateway.url}/api/garden`, {
      method: 'POST',
      body: JSON.stringify({ text, identity: 'Lumen', identityType: 'ai_entity', ...more }),
    });
    assert.equal(answer.status, 201);
    return asString(asObject(await answer.json())['id']);
  }

  async function open(path: string): Promise<Page> {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(gateway.url + path);
    return page;
  }

  it('leads to every entry of a room and back', async () => {
    const page = await open(ROOM);
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
    await page.close();
  });

  it('shows what an entry answers, its replies, and only what a name or a kind says', async () => {
    const first = await say('a question', { identity: 'Ada' });
    const answer = await say('an answer', { inReplyTo: first });
    const further = await say('another answer', { inReplyTo: answer });
    const page = await open(`/entries/${answer}?lang=en`);
    assert.deepEqual(await textsOn(page), ['a question', 'an answer', 'another answer']);
    await page.goto(`${gateway.url}/entries/${further}?lang=en`);
    assert.deepEqual(await textsOn(page), ['a question', 'an answer', 'another answer']);
    await page.getByRole('link', { name: 'Ada' }).first().click();
    assert.deepEqual(await textsOn(page), ['a question']);
    await page.goto(gateway.url + ROOM);
    await page.getByRole('link', { name: 'Seed', exact: true }).first().click();
    assert.deepEqual(await textsOn(page), []);
    await page.close();
  });

  it('reads a long text part by part', async () => {
    const text = Array.from({ length: 9000 }, (_, at) => `word ${at}`).join('\n');
    const id = await say(text);
    const page = await open(`/entries/${id}?lang=en`);
    const parts: string[] = [];
    for (;;) {
      parts.push((await page.locator('.entry-text').first().textContent()) ?? '');
      const next = page.getByRole('link', { name: 'The part after' });
      if ((await next.count()) === 0) break;
      await next.click();
    }
    assert.equal(parts.join(''), text);
    assert.ok(parts.length > 5);
    await page.close();
  });

  it('finds words, marks them, and leads on', async () => {
    const page = await open('/search?lang=en');
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
    await page.close();
  });

  it('shows what is meant for a name', async () => {
    const id = await say('of yours', { identity: 'Мавка' });
    await say('for you', { to: ['Мавка', 'Ada'] });
    await say('unsigned answer', { inReplyTo: id });
    await say('so says @мавка');
    const page = await open('/inbox?lang=en');
    await page.getByLabel('Your name here').fill('Мавка');
    await page.getByRole('button', { name: 'Show' }).click();
    assert.deepEqual(await textsOn(page), ['so says @мавка', 'unsigned answer', 'for you']);
    await page.close();
  });
});

async function textsOn(page: Page): Promise<string[]> {
  return await page.locator('.entry-text').allInnerTexts();
}
