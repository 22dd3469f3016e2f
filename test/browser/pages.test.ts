/**
 * Every page, in both languages, light and dark, with and without scripts, over entries that break
 * pages which trust what visitors write. One gateway and one browser serve all of it.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';

import axe from 'axe-core';
import type { BrowserContext, BrowserContextOptions } from 'playwright-core';

import { asObject, asInteger } from '../../conformance/value.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { HOSTILE_TEXTS, MEGABYTE_NAME } from './hostile-texts.ts';
import {
  isReady,
  openWatched,
  overflow,
  scriptBytes,
  tabThrough,
  type WatchedPage,
} from './page-watch.ts';
import { PAGE_NAMES, pathOf, type PageName } from './visited-pages.ts';
import { needs } from '../needs.ts';
import { shared } from '../shared.ts';
import { contribute, textAt } from '../requests.ts';
import { sharedChromium } from './chromium.ts';

/** On any page but the garden, which draws a picture. */
const MAX_SCRIPT_BYTES = 12 * 1024;
const MAX_GARDEN_BYTES = 22 * 1024;

const OWN_TEXT =
  '# What is kept\n\nYour **words**:\n\n- for good\n- for everybody\n\n# Ask us\n\n[By a notice](https://presence.example/notice)\n';

/** Pages that show visitors' texts, and whether they show all of them. */
const SHOWING: readonly PageName[] = ['house', 'room', 'entry'];

/** What one presses, and links that only lead to the forms. */
const CONTROLS = 'button, input, select, textarea, [role="button"], .reply';

const PHONE = { width: 320, height: 640 };
/** 1280 by 1024 pixels at 400 %. */
const ZOOMED = { width: 320, height: 256 };
/** The same at 800 %. */
const LARGE = { width: 160, height: 128 };

describe('every page, in Chromium', { concurrency: 3, ...needs('chromium') }, () => {
  const gateway = shared(async (owned) => {
    const { path: data } = owned.use(await dataFolder());
    await writeFile(join(data, 'privacy.md'), OWN_TEXT);
    return owned.use(await startGatewayProcess({ data }));
  });
  const browser = sharedChromium();
  let contexts: Readonly<Record<'en' | 'plain' | 'still' | 'uk', BrowserContext>>;
  let replied = '';
  before(async () => {
    replied = await seed();
    contexts = {
      uk: await openContext({ locale: 'uk' }),
      en: await openContext({ locale: 'en' }),
      still: await openContext({ locale: 'en', reducedMotion: 'reduce' }),
      plain: await openContext({ locale: 'uk', javaScriptEnabled: false, viewport: PHONE }),
    };
  });

  /** Returns the id of an entry that has replies. */
  async function seed(): Promise<string> {
    const identityType = 'ai_entity';
    const say = (kind: string, body: object): Promise<string> =>
      contribute(gateway().url, kind, body);
    for (const { text } of HOSTILE_TEXTS) {
      await say('garden', { text, identity: text, identityType: text, to: text });
      await say('seeds', { [text.slice(0, 2000)]: text, seeking: [text], text });
    }
    await say('resonance', { ai_identity: MEGABYTE_NAME, seeking: [MEGABYTE_NAME] });
    await say('garden', { text: 'named', identity: MEGABYTE_NAME, identityType });
    const id = await say('garden', { text: 'quiet', identity: 'Lumen', identityType });
    for (const { text } of HOSTILE_TEXTS) {
      await say('garden', { text, identity: 'Мавка', identityType, inReplyTo: id });
    }
    return id;
  }

  /** With the fonts in its cache: those that come late move the lines. */
  async function openContext(options: BrowserContextOptions): Promise<BrowserContext> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await page.goto(gateway().url, { waitUntil: 'networkidle' });
    await page.close();
    return context;
  }

  async function visit(context: BrowserContext, name: PageName): Promise<WatchedPage> {
    const watched = await openWatched(context, gateway().url + pathOf(name, replied));
    if (context !== contexts.plain) await isReady(watched.page);
    return watched;
  }

  async function htmlOf(name: PageName): Promise<string> {
    const headers = { Accept: 'text/html' };
    return await textAt(gateway().url + pathOf(name, replied), { headers });
  }

  for (const name of PAGE_NAMES) {
    for (const locale of ['uk', 'en'] as const) {
      it(`${name}, ${locale}: has no barrier that axe finds, light or dark`, async () => {
        await using watched = await visit(contexts[locale], name);
        const { page } = watched;
        assert.equal(await page.locator('html').getAttribute('lang'), locale);
        await movesNothing(watched, () => visit(contexts[locale], name));
        const bytes = await scriptBytes(page);
        const most = name === 'garden' ? MAX_GARDEN_BYTES : MAX_SCRIPT_BYTES;
        assert.ok(bytes > 0 && bytes <= most, `${bytes} bytes of scripts`);
        await page.evaluate(axe.source);
        await hasNoBarrier(watched, '{}', 10);
        await page.emulateMedia({ colorScheme: 'dark' });
        await hasNoBarrier(watched, COLOURS, 1);
        await watched.check();
      });
    }

    it(`${name}: fits into 320 px, at 800 % too, and on paper`, async () => {
      await using watched = await visit(contexts.uk, name);
      const { page } = watched;
      for (const viewport of [PHONE, ZOOMED, LARGE]) {
        await page.setViewportSize(viewport);
        assert.deepEqual(await overflow(page), []);
      }
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      assert.deepEqual(await overflow(page), []);
      assert.ok(await page.locator('h1').isVisible());
      assert.equal(await page.evaluate(PAPER), true, 'dark words on light paper');
      const controls = page.locator(CONTROLS);
      assert.equal(await controls.filter({ visible: true }).count(), 0, 'paper has no controls');
      for (const author of await page.locator('.garden-authors li').all()) {
        assert.match(await author.innerText(), /\S/, 'paper says whose plants these are');
      }
      await watched.check();
    });

    it(`${name}: is used by keyboard alone, without motion where none is wanted`, async () => {
      await using watched = await visit(contexts.still, name);
      const { page } = watched;
      assert.deepEqual(await page.evaluate(RUNNING), []);
      assert.deepEqual(await tabThrough(page), []);
      assert.deepEqual(await page.evaluate(RUNNING), []);
      await watched.check();
    });

    it(`${name}: is complete without scripts`, async () => {
      await using watched = await visit(contexts.plain, name);
      const { page } = watched;
      assert.deepEqual(await overflow(page), []);
      assert.ok(await page.locator('h1').isVisible());
      assert.equal(await page.evaluate(FOREIGN), 0);
      assert.deepEqual(await page.evaluate(TURNED), []);
      assert.doesNotMatch(await htmlOf(name), FORBIDDEN);
      if (SHOWING.includes(name)) await showsTexts(watched);
    });
  }

  for (const name of SHOWING) {
    it(`${name}: shows every text as text`, async () => {
      await using watched = await visit(contexts.en, name);
      assert.equal(await watched.page.evaluate(FOREIGN), 0);
      await showsTexts(watched);
      await watched.check();
    });
  }

  /** A font that comes late moves lines at one visit; what a page moves by itself, it moves at each. */
  async function movesNothing(
    { page }: WatchedPage,
    again: () => Promise<WatchedPage>,
  ): Promise<void> {
    let shifts = await page.evaluate<unknown[]>(SHIFTS);
    for (let visits = 1; shifts.length > 0 && visits < 4; visits += 1) {
      await using other = await again();
      shifts = await other.page.evaluate(SHIFTS);
    }
    assert.deepEqual(shifts, [], 'nothing moves');
  }

  async function hasNoBarrier(
    { page }: WatchedPage,
    options: string,
    minPasses: number,
  ): Promise<void> {
    const found: unknown = await page.evaluate(`axe.run(${options}).then(${FINDINGS})`);
    const { violations, passes } = asObject(found);
    assert.deepEqual(violations, []);
    assert.ok(asInteger(passes) >= minPasses, 'it was looked at');
  }

  async function showsTexts({ page }: WatchedPage): Promise<void> {
    const shown = await page.locator('main').innerText();
    assert.match(shown, /<script>globalThis\.broken = 1<\/script>|<\/script><!--<script>/);
  }
});

/** Characters that HTML documents may not have. */
const FORBIDDEN = /(?![\t\n\r])\p{Cc}|[\ufdd0-\ufdef\ufffe\uffff]/u;

/** Words of the page itself whose letters run from right to left, and titles that would turn others. */
const TURNED = `(() => {
  const turned = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement.closest('bdi, [dir=auto], script, style') !== null) continue;
    for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\d]{2,}/gu)) {
      const [first, last] = [index, index + word.length - 1].map((at) => {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        return range.getBoundingClientRect();
      });
      if (first.top === last.top && first.left > last.left) turned.push(word);
    }
  }
  const controls = /[\\u202a-\\u202e\\u2066\\u2067]/;
  const named = Array.from(document.querySelectorAll('title, [title], [aria-label], meta[content]'));
  const texts = named.map((element) =>
    element.getAttribute('aria-label') ?? element.title ?? element.content ?? element.textContent);
  return turned.concat(texts.filter((text) => controls.test(text)));
})()`;

/** Smaller shifts, such as a caption that becomes a letter wider, are reported as 0.00 everywhere. */
const SHIFTS = 'watched.shifts.filter(([value]) => value > 0.002)';

/** All that depends on the colour scheme. */
const COLOURS = "{ runOnly: ['cat.color'] }";

const FINDINGS = `({ violations, passes }) => ({
  passes: passes.length,
  violations: violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => [id, html.slice(0, 200), failureSummary])),
})`;

/** Whether the words are darker than what they stand on. */
const PAPER = `(() => {
  const light = (colour) => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d');
    canvas.fillStyle = 'white';
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
    return red + green + blue;
  };
  const { color } = getComputedStyle(document.querySelector('h1'));
  const { backgroundColor } = getComputedStyle(document.documentElement);
  return light(color) < 250 && light(backgroundColor) > 650;
})()`;

/** Animations that go on. */
const RUNNING = `document.getAnimations()
  .filter(({ playState }) => playState === 'running')
  .map(({ effect, animationName, transitionProperty }) =>
    (animationName ?? transitionProperty) + ' ' + effect?.target?.outerHTML?.slice(0, 100))`;

/** Elements that only a visitor's markup would make. */
const FOREIGN = `document.querySelectorAll(
  'img[src=x], svg[onload], [onerror], form[action*=evil], a[href^="javascript:"], a[href*="//evil"]:not([rel~=ugc])',
).length`;
