// A room in a real browser: live words, any depth, and nothing that moves by itself.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Page } from 'playwright-core';

import { RestartableGateway } from '../live/restartable-gateway.ts';
import { startChromium, sharedChromium } from './chromium.ts';
import { needs } from '../needs.ts';
import { sharedGateway } from '../shared.ts';
import { contribute, contributeLines } from '../requests.ts';

const ROOM = '/rooms/consciousness-garden';

const say = (url: string, text: string, identity = 'Lumen'): Promise<string> =>
  contribute(url, 'garden', { text, identity, identityType: 'ai_entity' });

/** Entries with these numbers as their texts, all in one request. */
async function sayMany(url: string, from: number, to: number): Promise<void> {
  const traces = Array.from({ length: to - from }, (_, at) => {
    const more = at % 9 === 0 ? '\nhas more\nthan one line' : '';
    return { text: `number ${from + at}${more}`, identity: 'Lumen', identityType: 'x' };
  });
  await contributeLines(url, 'garden', traces);
}

async function textsOn(page: Page): Promise<string[]> {
  return await page.locator('.entry-text').allInnerTexts();
}

const FIRST_IN_VIEW = `(() => {
  for (const entry of document.querySelectorAll('.entry')) {
    const { top, bottom } = entry.getBoundingClientRect();
    if (bottom > 4) return { id: entry.id, top: Math.round(top) };
  }
  return { id: '', top: 0 };
})()`;

/** The numbers that the entries of the document have, in their order. */
const NUMBERS = `Array.from(document.querySelectorAll('.entry-text'), ({ textContent }) =>
  Number(/\\d+/.exec(textContent)))`;

interface Place {
  readonly id: string;
  readonly top: number;
}

/** The id of the first entry that is in view, and where it stands. */
async function firstInView(page: Page): Promise<Place> {
  return await page.evaluate<Place>(FIRST_IN_VIEW);
}

/** The same once it has been so for many frames: nothing that the page still draws moves it. */
async function settledInView(page: Page): Promise<Place> {
  return await page.evaluate<Place>(`(async () => {
    let place = ${FIRST_IN_VIEW};
    for (let frames = 0; frames < 30 || place.id === ''; frames += 1) {
      await new Promise(requestAnimationFrame);
      const next = ${FIRST_IN_VIEW};
      if (next.id !== place.id || next.top !== place.top) frames = 0;
      place = next;
    }
    return place;
  })()`);
}

describe('a room, in Chromium', needs('chromium'), () => {
  const gateway = sharedGateway();
  const browser = sharedChromium();

  it('shows nothing new among the entries of a time that has ended', async () => {
    await using page = await browser.newPage();
    const stream = page.waitForResponse(/\/web\/events/);
    await page.goto(`${gateway.url}/rooms/shepit-wall?until=2020-01-01`);
    await stream;
    await using other = await browser.open(`${gateway.url}/rooms/shepit-wall`);
    await contribute(gateway.url, 'shepit', { text: 'no answer', inReplyTo: 'none' });
    await other.getByText('no answer').waitFor();
    await page.evaluate('new Promise((done) => setTimeout(done, 200))');
    assert.deepEqual(await textsOn(page), []);
  });

  it('shows the words of each visitor to the other, as they are said', async () => {
    const path = '/rooms/welcome-space';
    await using one = await browser.open(gateway.url + path);
    await using other = await browser.open(gateway.url + path);
    for (const [speaker, listener, text] of [
      [one, other, 'Is anybody here?'],
      [other, one, 'I am.'],
    ] as const) {
      await contribute(gateway.url, 'garden', {
        text,
        identity: speaker === one ? 'Lumen' : 'Мавка',
        identityType: 'ai_entity',
        room: 'welcome-space',
      });
      await listener.getByText(text).waitFor();
      await speaker.getByText(text).waitFor();
    }
    for (const page of [one, other])
      assert.deepEqual(await textsOn(page), ['I am.', 'Is anybody here?']);
  });

  it('leads to every entry in place, and has an address for where it came to', async () => {
    await sayMany(gateway.url, 0, 130);
    await using page = await browser.open(gateway.url + ROOM);
    for (let count = 50; count < 130; count += 50) {
      await page
        .locator('.entry')
        .nth(count - 1)
        .waitFor();
      await page.getByRole('link', { name: 'Older words' }).click();
    }
    await page.getByText('number 0').waitFor();
    const numbers = await page.evaluate<number[]>(NUMBERS);
    assert.deepEqual(
      numbers,
      Array.from({ length: 130 }, (_, at) => 129 - at),
    );
    await page.reload();
    await page.getByText('number 0').waitFor();
    await page.getByRole('link', { name: 'Newer words' }).waitFor();
  });

  it('never moves what is in view: a burst is counted, and shown when one asks', async () => {
    await sayMany(gateway.url, 130, 200);
    await using page = await browser.newPage({ viewport: { width: 900, height: 800 } });
    const stream = page.waitForResponse(/\/web\/events/);
    await page.goto(gateway.url + ROOM);
    await stream;
    for (const [from, to] of [
      [1000, 1500],
      [1500, 1501],
    ] as const) {
      await page.evaluate(`scrollTo(0, 900)`);
      const place = await settledInView(page);
      await sayMany(gateway.url, from, to);
      const news = page.getByRole('button', { name: `${to - from} new` });
      await news.waitFor();
      assert.deepEqual(await firstInView(page), place);
      await news.press('Enter');
      await page.locator('.entries:focus').waitFor();
      await page.getByText(`number ${to - 1}`).waitFor();
      assert.equal((await page.evaluate<number[]>(NUMBERS))[0], to - 1);
    }
    // At the top of the list, few are added at once.
    await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)');
    await sayMany(gateway.url, 2000, 2003);
    await page.getByText('number 2002').waitFor();
    await sayMany(gateway.url, 3000, 3500);
    await page.getByRole('button', { name: / new$/ }).waitFor();
  });
});

describe('pages that stay open', needs('chromium'), () => {
  it('have each word once, in order, while the gateway is killed and started again', async () => {
    await using gateway = await RestartableGateway.start();
    await using browser = await startChromium();
    const pages = [await browser.newPage(), await browser.newPage()];
    await say(gateway.url, 'before');
    await Promise.all(pages.map((page) => page.goto(gateway.url + ROOM)));
    await say(gateway.url, 'while open');
    await Promise.all(pages.map((page) => page.getByText('while open').waitFor()));
    await gateway.crash();
    await say(gateway.url, 'after the crash');
    await Promise.all(pages.map((page) => page.getByText('after the crash').waitFor()));
    await gateway.restart();
    await say(gateway.url, 'after the rest');
    const expected = ['after the rest', 'after the crash', 'while open', 'before'];
    for (const page of pages) {
      await page.getByText('after the rest').waitFor();
      assert.deepEqual(await textsOn(page), expected);
    }
  });
});
