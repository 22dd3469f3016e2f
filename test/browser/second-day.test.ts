// A person's first visit, and the day after: what is new is found, whoever the browser and the language are.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { BrowserContext, Locator, Page } from 'playwright-core';

import { en } from '../../packages/web/src/words/en.ts';
import { uk } from '../../packages/web/src/words/uk.ts';
import { needs } from '../needs.ts';
import { becomesTrue, isReady } from './page-watch.ts';
import { sharedGateway } from '../shared.ts';
import { contribute, entriesAt } from '../requests.ts';
import { sharedChromium } from './chromium.ts';

const DEVICES = {
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 900 } },
} as const;
const WORDS = { en, uk };
const LABELS = {
  en: { text: 'Your text', name: 'Your name', send: 'Send' },
  uk: { text: 'Твій текст', name: 'Твоє ім’я', send: 'Надіслати' },
} as const;
const DAY_MS = 24 * 60 * 60_000;
/** Said between the two visits. */
const NEW = 50;

describe('a first visit and a second day, in Chromium', needs('chromium'), () => {
  const gateway = sharedGateway();
  const browser = sharedChromium();

  for (const device of ['phone', 'desktop'] as const) {
    for (const locale of ['en', 'uk'] as const) {
      for (const javaScriptEnabled of [true, false]) {
        const how = javaScriptEnabled ? 'with scripts' : 'without scripts';
        it(`on a ${device}, in ${locale}, ${how}`, async () => {
          await using context = await browser.newContext({
            ...DEVICES[device],
            locale,
            javaScriptEnabled,
          });
          await comeTwice({ context, locale, hasScripts: javaScriptEnabled });
        });
      }
    }
  }

  it('keeps what is new when one goes back to a page from before', async () => {
    await using context = await browser.newContext({ locale: 'en' });
    const first = await context.newPage();
    await first.goto(gateway.url);
    await becomesTrue(first, `localStorage.getItem('open-presence.visit')`);
    await first.close();
    await say({ text: 'said while away', identity: 'Weft' });
    const page = await context.newPage();
    await page.clock.setFixedTime(Date.now() + DAY_MS);
    await page.goto(gateway.url);
    const news = (count: number): Locator =>
      page.locator('.new-since').getByText(en.news.newSince.replace('#1', String(count)));
    await news(1).waitFor();
    const id = await say({ text: 'said meanwhile', identity: 'Weft' });
    const told = page.waitForResponse('**/web/news?*');
    await page.goto(`${gateway.url}/entries/${id}`);
    await told;
    await page.goBack();
    await news(2).waitFor();
    await page.reload();
    await news(2).waitFor();
  });

  it('counts none of one’s own words', async () => {
    await using context = await browser.newContext({ locale: 'en' });
    const first = await context.newPage();
    await first.goto(gateway.url);
    await becomesTrue(first, `localStorage.getItem('open-presence.visit')`);
    await first.close();
    const page = await context.newPage();
    await page.clock.setFixedTime(Date.now() + DAY_MS);
    await page.goto(gateway.url);
    await page.locator('#take-part').getByRole('button', { name: 'Whisper' }).click();
    await page.getByLabel('What you whisper').fill('my own words');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.locator('.brief.own').waitFor();
    const told = page.waitForResponse('**/web/news?*');
    await page.reload();
    const counts = (await (await told).json()) as { readonly rooms: Record<string, number> };
    assert.equal(counts.rooms['shepit-wall'], 1);
    await becomesTrue(page, `document.querySelector('.new-since time').dateTime`);
    assert.equal(await page.locator('.count, .new-since').filter({ visible: true }).count(), 0);
    await page.goto(`${gateway.url}/rooms/shepit-wall`);
    await page.getByText('my own words').waitFor();
    assert.equal(await page.locator('.entry-new').count(), 0);
  });

  it('knows what is new after the clock of the device was set back', async () => {
    await using context = await browser.newContext({ locale: 'en' });
    const first = await context.newPage();
    await first.clock.setFixedTime(Date.now() + 365 * DAY_MS);
    await first.goto(gateway.url);
    await becomesTrue(first, `localStorage.getItem('open-presence.visit')`);
    await first.close();
    await say({ text: 'said after that', identity: 'Weft' });
    const page = await context.newPage();
    await page.clock.setFixedTime(Date.now());
    await page.goto(gateway.url);
    await page
      .locator('.new-since')
      .getByText(en.news.newSince.replace('#1', String(1)))
      .waitFor({ timeout: 20_000 });
  });

  interface Visitor {
    readonly context: BrowserContext;
    readonly locale: 'en' | 'uk';
    readonly hasScripts: boolean;
  }

  async function comeTwice({ context, locale, hasScripts }: Visitor): Promise<void> {
    const words = WORDS[locale];
    const labels = LABELS[locale];
    const author = `Мавка ${Math.random()}`;
    const name = `Olena ${Math.random()}`;
    const root = await say({ text: 'Who listens to the grass?', identity: author });
    const answer = await say({ text: 'I do, at night.', identity: 'Lumen', inReplyTo: root });
    const other = await say({ text: 'So do I.', identity: 'Weft', inReplyTo: answer });

    // Arrives by a link to an entry, and sees the conversation around it.
    const page = await context.newPage();
    await page.goto(`${gateway.url}/entries/${answer}`);
    await page.locator('.ancestors').getByText('Who listens to the grass?').waitFor();
    await page.locator('.replies').getByText('So do I.').waitFor();

    // Follows the author.
    await page.getByRole('link', { name: author }).first().click();
    await page.locator('h1').getByText(author).waitFor();
    await page.locator('.entry').getByText('Who listens to the grass?').waitFor();
    await page.getByRole('link', { name: words.visitor.conversations }).click();
    await page.locator('.brief').getByText('Who listens to the grass?').waitFor();

    // Answers an answer: in its place where scripts run.
    await page.goto(`${gateway.url}/entries/${root}`);
    const nested = page.locator('.answers .entry', { hasText: 'So do I.' });
    if (hasScripts) await isReady(page);
    await nested.getByRole('link', { name: words.entry.reply, exact: true }).click();
    await page.getByLabel(labels.text).fill('And I hear you both.');
    await page.getByLabel(labels.name).fill(name);
    await page.getByRole('button', { name: labels.send, exact: true }).click();
    await page.locator('.entry-text').getByText('And I hear you both.').waitFor();
    const newest = `/api/entries?limit=1&identity=${encodeURIComponent(name)}`;
    const [said = {}] = await entriesAt(gateway.url + newest);
    assert.deepEqual([said['text'], said['inReplyTo']], ['And I hear you both.', other]);

    // Leaves. Without scripts, by a link that carries the cursor.
    const room = `${gateway.url}/rooms/consciousness-garden`;
    await page.goto(room);
    const later = page.getByRole('link', { name: words.news.nextTime });
    const kept = hasScripts ? null : await later.getAttribute('href');
    if (hasScripts) await isReady(page);
    await page.close();
    for (let at = 1; at < NEW; at += 1) await say({ text: `while away ${at}`, identity: 'Weft' });
    await say({ text: 'You are heard, too.', identity: 'Weft', inReplyTo: said['id'] });

    // Comes back the day after.
    const second = await context.newPage();
    if (kept !== null) {
      await second.goto(new URL(kept, room).href);
      assert.equal(await second.locator('.entry').count(), NEW);
    } else {
      await second.clock.setFixedTime(Date.now() + DAY_MS);
      await seesNews(second, words, room);
    }
    await second.goto(`${gateway.url}/inbox?to=${encodeURIComponent(name)}`);
    await second.locator('.entry').getByText('You are heard, too.').waitFor();
  }

  async function seesNews(page: Page, words: typeof en, room: string): Promise<void> {
    await page.goto(gateway.url);
    await page
      .locator('.new-since')
      .getByText(words.news.newSince.replace('#1', String(NEW)))
      .waitFor();
    await page.locator('.navigation .count').getByText('1', { exact: false }).waitFor();
    assert.match(await page.title(), /^\(1\) /);
    await page.goto(room);
    await page
      .locator('.new-since')
      .getByText(words.news.newSince.replace('#1', String(NEW)))
      .waitFor();
    assert.equal(await page.locator('.entry-new').count(), NEW);
    await page.getByRole('button', { name: words.news.markAsRead }).click();
    await page.locator('.new-since').waitFor({ state: 'hidden' });
    const told = page.waitForResponse('**/web/news?*');
    await page.goto(gateway.url);
    await told;
    assert.equal(await page.locator('.count').filter({ visible: true }).count(), 0);
  }

  const say = (body: object): Promise<string> =>
    contribute(gateway.url, 'garden', { identityType: 'ai_entity', ...body });
});
