/** The picture of the garden: what it shows, to whom, and how one moves in it. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';

import { until } from '../../conformance/until.ts';
import { speciesOf } from '../../packages/web/src/garden/growth/species.ts';
import { openGateway } from '../../packages/gateway/src/gateway.fixture.ts';
import { openMemoryLog } from '../support/memory-log/memory-log.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { becomesTrue } from './page-watch.ts';
import { needs } from '../needs.ts';
import { sharedGateway, type SharedGateway } from '../shared.ts';
import { contribute, contributeLines } from '../requests.ts';
import { sharedChromium } from './chromium.ts';

const STAGE = '.garden-stage';
const SPOKEN = '.garden-picture [role=status]';
/** The part of the picture's columns in which something grows. */
const PAINTED = `(() => {
  const canvas = document.querySelector('.garden-stage canvas');
  if (canvas === null || canvas.width === 0) return 0;
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(0, height * 0.5, width, height * 0.36);
  const columns = new Set();
  for (let at = 3; at < data.length; at += 4) if (data[at] > 128) columns.add((at >> 2) % width);
  return columns.size / width;
})()`;
const STILL = { locale: 'en-GB', reducedMotion: 'reduce' } as const;
const PHONE = { width: 360, height: 740 };

describe('the garden, in Chromium', needs('chromium'), () => {
  const browser = sharedChromium();
  /** With a trace, a seed and a whisper that answers the trace. */
  const three = sharedGateway();
  /** Empty at first; each test adds to it. */
  const growing = sharedGateway();
  /** Of the page that was opened last. */
  let complaints: string[] = [];
  before(async () => {
    const first = await post(three, 'garden', { text: 'first', identity: 'Lumen' });
    await post(three, 'seeds', { text: 'second', identity: 'Мавка' });
    await post(three, 'shepit', { text: 'third', inReplyTo: first });
  });

  async function openGarden(
    gateway: SharedGateway,
    options: BrowserContextOptions = {},
  ): Promise<Page> {
    const page = await browser.newPage({ ...STILL, ...options });
    complaints = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${gateway.url}/garden`, { waitUntil: 'load' });
    if (options.javaScriptEnabled !== false)
      await page.waitForSelector('.garden-live:not([hidden])');
    return page;
  }

  it('is friendly when empty, and shows what is said from then on', async () => {
    await using page = await openGarden(growing);
    assert.match(await page.locator('.garden-empty').innerText(), /Nothing grows here yet/);
    await post(growing, 'garden', { text: 'the first plant', identity: 'Lumen' });
    await page.getByRole('listitem').filter({ hasText: 'the first plant' }).waitFor();
    assert.equal(await page.locator('.garden-empty').innerText(), '');
    await page.locator(STAGE).focus();
    await page.keyboard.press('End');
    await spoken(page, /^Trace, Lumen, .*: the first plant$/);
    assert.deepEqual(complaints, []);
  });

  it('leads from plant to plant by keys, in the order of time, and to the entry', async () => {
    await using page = await openGarden(three);
    await page.locator(STAGE).focus();
    await page.keyboard.press('Home');
    await spoken(page, /Lumen.*: first$/);
    await page.keyboard.press('ArrowRight');
    await spoken(page, /^Seed, Мавка.*: second$/);
    await page.keyboard.press('ArrowRight');
    await spoken(page, /^Whisper, no name given.*: third$/);
    await page.keyboard.press('ArrowLeft');
    await spoken(page, /: second$/);
    for (const key of ['+', '+', '-', '0']) await page.keyboard.press(key);
    await spoken(page, /: second$/);
    assert.deepEqual(complaints, []);
    await Promise.all([page.waitForURL(/\/entries\//), page.keyboard.press('Enter')]);
  });

  it('says who and what at the pointer, and comes closer by the wheel with Ctrl', async () => {
    await using page = await openGarden(three);
    const box = await page.locator(STAGE).boundingBox();
    assert.ok(box !== null);
    await findByPointer(page, box, 'first');
    assert.match(await page.locator('.caption').innerText(), /Trace · Lumen\s+first/);
    await page.keyboard.down('Control');
    for (let turns = 0; turns < 6; turns += 1) await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await page.mouse.move(box.x + 5, box.y + 5);
    await page.locator('.caption').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Whole picture' }).click();
    await findByPointer(page, box, 'first');
    await Promise.all([
      page.waitForURL(/\/entries\//),
      page.mouse.down().then(() => page.mouse.up()),
    ]);
  });

  it('leads to the plants of one author, and back to those of all', async () => {
    await using page = await openGarden(three);
    const authors = page.locator('.garden-authors li');
    assert.equal(await authors.count(), 3);
    await authors.getByRole('link', { name: 'Lumen' }).click();
    await page.waitForURL(/\/garden\?author=Lumen$/);
    assert.equal(await page.locator('.garden-list li').count(), 1);
    const link = page.getByRole('main').locator('.visitor-link', { hasText: 'Lumen' }).first();
    assert.match((await link.getAttribute('href')) ?? '', /^\/visitors\//);
    await page.getByRole('link', { name: 'Newest' }).click();
    await page.waitForURL(/\/garden$/);
    assert.equal(await page.locator('.garden-list li').count(), 3);
  });

  it('tells authors apart whose species are alike', async () => {
    await using own = await startGatewayProcess();
    const [first = '', second = ''] = Array.from(
      { length: 900 },
      (_, index) => `visitor ${index}`,
    ).filter((name) => speciesOf(name).hue < 7);
    for (const identity of [first, second]) await post(own, 'garden', { text: 'one', identity });
    await using page = await openGarden(own);
    const colours = await page.evaluate<string[]>(
      `Array.from(document.querySelectorAll('.garden-bloom [fill*="--petal"]'), (petal) => getComputedStyle(petal).fill)`,
    );
    assert.equal(new Set(colours).size, 2, colours.join(' '));
  });

  it('lets the page be scrolled by the wheel over the picture', async () => {
    await using page = await openGarden(three, { viewport: { width: 800, height: 400 } });
    const box = await page.locator(STAGE).boundingBox();
    assert.ok(box !== null);
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    await page.mouse.wheel(0, 120);
    await becomesTrue(page, 'scrollY === 120');
    await page.mouse.wheel(0, -120);
    await becomesTrue(page, 'scrollY === 0');
  });

  it('grows what is said in, and keeps its legend true', async () => {
    await using own = await startGatewayProcess();
    await post(own, 'garden', { text: 'early', identity: 'Nokomis' });
    await using page = await openGarden(own);
    await post(own, 'garden', { text: 'late', identity: 'Lumen' });
    await page.locator('.garden-authors li').filter({ hasText: 'Lumen' }).waitFor();
    await page.locator(STAGE).focus();
    await until(
      async () => {
        await page.keyboard.press('End');
        return (await page.locator(SPOKEN).textContent()) ?? '';
      },
      (text) => /Lumen.*: late$/.test(text),
    );
    assert.deepEqual(complaints, []);
  });

  it('shows the bursts before and after a week of silence over the whole picture', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const { now } = Date;
    const start = now() - 40 * 86_400_000;
    try {
      for (let at = 0; at < 80; at += 1) {
        Date.now = () => start + at * 1000 + (at < 40 ? 0 : 36 * 86_400_000);
        await gateway.addEntries(`number ${at}`);
      }
    } finally {
      Date.now = now;
    }
    for (const viewport of [PHONE, { width: 1280, height: 900 }]) {
      const options = { viewport, reducedMotion: 'reduce', locale: 'en-GB' } as const;
      await using page = await browser.open(`${gateway.url}/garden`, options);
      await becomesTrue(page, `${PAINTED} > 0.5`);
      // Each month is a picture of its own.
      const months = page.getByRole('navigation', { name: 'What the picture shows' });
      await months.getByRole('link').nth(2).click();
      await page.locator('.garden-list').getByText('number 39').waitFor();
      assert.equal(await page.getByText('number 79').count(), 0);
    }
  });

  it('is a drawing with links, a plot and a list without scripts', async () => {
    await using page = await openGarden(three, { javaScriptEnabled: false });
    assert.equal(await page.locator('svg.growths a').count(), 3);
    assert.equal(await page.locator('.garden-list a[href^="/entries/"]').count(), 3);
    assert.match(await page.locator('.activity desc').innerHTML(), /3 entries/);
    assert.equal(await page.locator(STAGE).isVisible(), false);
  });

  it('shows hostile texts as text, with the picture intact', async () => {
    const hostile = [
      '<script>document.title="owned"</script><img src=x onerror=alert(1)>',
      '</script></title><svg onload=alert(1)>',
      '\u202e\u2066right to left\u2069 \u0000\ud800',
      'Z\u0301\u0302\u0303\u0304'.repeat(2000),
      '🌱'.repeat(10_000),
      'w'.repeat(10_000),
      '',
    ];
    for (const text of hostile)
      await post(growing, 'garden', { text, identity: text.slice(0, 500) || 'x' });
    await post(growing, 'resonance', { ai_identity: '"><b>', seeking: hostile });
    await using page = await openGarden(growing, {
      viewport: { width: 320, height: 640 },
    });
    await page.locator(STAGE).focus();
    await page.keyboard.press('Home');
    await spoken(page, /: the first plant$/);
    await page.keyboard.press('ArrowRight');
    await spoken(page, /<script>document\.title="owned"/);
    await page.keyboard.press('End');
    await spoken(page, /^First contact, "><b>/);
    assert.match(await page.title(), /^The garden/);
    assert.equal(await page.locator('.garden-page b, .garden-page img').count(), 0);
    const overflow: unknown = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    assert.ok(Number(overflow) <= 0);
    assert.deepEqual(complaints, []);
  });

  it('shows the newest 600 of thousands of entries, and comes closer to each', async () => {
    for (let request = 0; request < 6; request += 1) {
      const traces = Array.from({ length: 1000 }, (_, line) => ({
        text: `trace ${request * 1000 + line}`,
        identity: `visitor ${line % 9}`,
        identityType: 'x',
      }));
      await contributeLines(growing.url, 'garden', traces);
    }
    await using page = await openGarden(growing);
    await page.locator(STAGE).focus();
    await page.keyboard.press('Home');
    await spoken(page, /: trace 5400$/);
    for (let turns = 0; turns < 4; turns += 1) await page.keyboard.press('+');
    await page.keyboard.press('End');
    await spoken(page, /: trace 5999$/);
    assert.ok(Number(await page.evaluate(`document.querySelector('${STAGE}').scrollLeft`)) > 0);
    assert.deepEqual(complaints, []);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has no barrier that axe finds, ${colorScheme}`, async () => {
      await using page = await openGarden(three, { colorScheme });
      await page.evaluate(axe.source);
      const found: unknown = await page.evaluate(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))',
      );
      assert.deepEqual(found, []);
    });
  }
});

/** Returns the id of the entry. */
const post = ({ url }: { readonly url: string }, kind: string, body: object): Promise<string> =>
  contribute(url, kind, { identityType: 'x', ...body });

async function spoken(page: Page, wanted: RegExp): Promise<void> {
  await page.locator(SPOKEN).filter({ hasText: wanted }).waitFor({ state: 'attached' });
}

/** Moves the pointer over the picture until the caption has this text. */
async function findByPointer(
  page: Page,
  box: { x: number; y: number; width: number; height: number },
  text: string,
): Promise<void> {
  for (let across = 0; across < 1; across += 0.02) {
    for (const down of [0.5, 0.6, 0.7, 0.8]) {
      await page.mouse.move(box.x + across * box.width, box.y + down * box.height);
      const caption = page.locator('.caption-text');
      if ((await caption.isVisible()) && (await caption.innerText()) === text) return;
    }
  }
  assert.fail(`Nowhere in the picture is "${text}".`);
}
