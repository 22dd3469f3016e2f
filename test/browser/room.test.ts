// A room in a real browser: live words, any depth, and an address for whatever is in view.
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

  it('keeps what is in view where it is, loads no more than is near, and has an address for it', async () => {
    const count = Number(process.env['ROOM_ENTRIES'] ?? 1500);
    const step = 10_000;
    for (let from = 0; from < count; from += step) {
      await sayMany(gateway.url, from, Math.min(count, from + step));
    }
    await using page = await browser.newPage({ viewport: { width: 900, height: 800 } });
    const session = await page.context().newCDPSession(page);
    const heap = async (): Promise<number> => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    };
    await page.goto(gateway.url + ROOM);
    await page.getByText(`number ${count - 1}`, { exact: true }).waitFor();
    let most = 0;
    let early = 0;
    for (let last = count; last > 0;) {
      await page.evaluate('scrollBy(0, 4000)');
      await page.waitForTimeout(30);
      const numbers = await page.evaluate<number[]>(NUMBERS);
      assert.ok(numbers.every((number, at) => at === 0 || (numbers[at - 1] ?? 0) > number));
      most = Math.max(most, numbers.length);
      last = numbers.at(-1) ?? last;
      if (early === 0 && last < count * 0.75) early = await heap();
    }
    assert.ok(most < 500, `${most} entries in the document`);
    const late = await heap();
    assert.ok(late < early * 1.3 + 1_000_000, `${early} bytes of heap became ${late}`);

    // Back up by half of it, through what was dropped: nothing is missing, and nothing moves by itself.
    for (let first = 0; first < count / 2;) {
      await page.evaluate('scrollBy(0, -4000)');
      await page.waitForTimeout(30);
      const numbers = await page.evaluate<number[]>(NUMBERS);
      assert.ok(numbers.every((number, at) => at === 0 || numbers[at - 1] === number + 1));
      assert.ok(numbers.length < 500, `${numbers.length} entries in the document`);
      first = numbers.at(0) ?? first;
    }
    await page.evaluate('scrollBy(0, 2000)');
    const place = await settledInView(page);
    await say(gateway.url, 'said meanwhile');
    const news = page.getByRole('button', { name: '1 new' });
    await news.waitFor();
    assert.deepEqual(await firstInView(page), place);
    await page.waitForURL(`**#${place.id}`);

    await page.reload();
    await page.locator(`#${place.id}`).waitFor();
    assert.equal((await settledInView(page)).id, place.id);

    await page.evaluate('scrollBy(0, -300)');
    await settledInView(page);
    await say(gateway.url, 'said again');
    await page.getByRole('button', { name: '1 new' }).press('Enter');
    await page.locator('.entries:focus').waitFor();
    await page.getByText('said again').waitFor();
    assert.deepEqual((await textsOn(page)).slice(0, 2), ['said again', 'said meanwhile']);
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
