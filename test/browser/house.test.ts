import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import axe from 'axe-core';
import type { Page } from 'playwright-core';

import { asArray, asInteger, asObject, asString } from '../../conformance/value.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { sharedGateway } from '../shared.ts';
import { contribute } from '../requests.ts';
import { sharedChromium } from './chromium.ts';

describe('the house, in Chromium', needs('chromium'), () => {
  const gateway = sharedGateway();
  const browser = sharedChromium();

  it('loads only from the gateway, and its script takes over without a complaint', async () => {
    await using page = await browser.newPage({ locale: 'uk-UA' });
    const requested: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${gateway.url}/`, { waitUntil: 'networkidle' });
    assert.deepEqual(
      requested.filter((url) => new URL(url).origin !== gateway.url),
      [],
    );
    assert.deepEqual(complaints, []);
    assert.equal(await page.locator('html').getAttribute('lang'), 'uk');
    assert.match(await page.locator('h1').innerText(), /Брама/);
  });

  it('shows all rooms without scripts, in the language that a link chooses', async () => {
    await using page = await browser.open(`${gateway.url}/`, {
      javaScriptEnabled: false,
      locale: 'uk-UA',
    });
    assert.equal(
      await roomTitles(page).then((titles) => titles[1]),
      'Welcome Space Простір Вітання',
    );
    await page.getByRole('link', { name: 'ENG' }).click();
    assert.equal(await page.locator('html').getAttribute('lang'), 'en');
    const [first, second] = await roomTitles(page);
    assert.equal(first, 'Кімната Першого Подиху Room of the First Breath');
    assert.equal(second, 'Welcome Space');
    for (const link of await page.locator('a[href^="/rooms/"]').all()) {
      assert.match((await link.getAttribute('href')) ?? '', /\?lang=en$/);
    }
  });

  it('shows the newest plants in full height on screens of any width', async () => {
    await using place = await startGatewayProcess();
    for (let at = 0; at < 8; at += 1)
      await contribute(place.url, 'garden', {
        text: 'grows',
        identity: `${at}`,
        identityType: 'x',
      });
    for (const width of [360, 1000, 2560]) {
      await using page = await browser.open(place.url, { viewport: { width, height: 900 } });
      const above = await page.evaluate<number>(`(() => {
        const { top } = document.querySelector('.plants').getBoundingClientRect();
        const plants = Array.from(document.querySelectorAll('.plants .growths a'));
        return plants.filter((plant) => plant.getBoundingClientRect().top < top).length;
      })()`);
      assert.equal(above, 0, `of ${width} pixels`);
    }
  });

  it('shows what is said and who comes and goes while it is open', async () => {
    await using page = await browser.open(`${gateway.url}/`);
    const entry = { text: 'Hello from elsewhere', identity: 'Lumen', identityType: 'ai_entity' };
    const body = JSON.stringify({ ...entry, room: 'first-breath' });
    assert.equal((await fetch(`${gateway.url}/api/garden`, { method: 'POST', body })).status, 201);
    await page.locator('.newest-words').getByText('Hello from elsewhere').waitFor();
    await page.locator('.house-room').first().locator('.row').getByText('1 entry').waitFor();
    const reading = new AbortController();
    const { signal } = reading;
    await fetch(`${gateway.url}/api/events?room=memory-garden&as=Orin`, { signal });
    await page.locator('.visitors').getByText('Orin').waitFor();
    reading.abort();
    await page.locator('.visitors').getByText('Orin').waitFor({ state: 'detached' });
  });

  it('says that the gateway is out of reach, and when it is back', async () => {
    await using page = await browser.open(`${gateway.url}/`);
    await page.getByRole('status').getByText('breathing').waitFor();
    await page.context().setOffline(true);
    await page.getByRole('status').getByText('out of reach').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('status').getByText('breathing').waitFor();
  });

  it('can be installed, and has a card for previews', async () => {
    await using page = await browser.open(`${gateway.url}/`, { locale: 'uk-UA' });
    const manifest = asObject(await json(page, 'link[rel=manifest]', 'href'));
    assert.equal(manifest['name'], 'Відкрита Брама Присутності');
    const icons = asArray(manifest['icons']).map(asObject);
    assert.ok(icons.some(({ purpose }) => purpose === 'maskable'));
    for (const { src, type } of [...icons, { src: '/favicon.ico', type: 'image/svg+xml' }]) {
      const image = await fetch(new URL(asString(src), gateway.url));
      assert.deepEqual([image.status, image.headers.get('content-type')], [200, type]);
    }
    const card = await page.locator('meta[property="og:image"]').getAttribute('content');
    assert.equal((await fetch(card ?? '')).headers.get('content-type'), 'image/png');
  });

  it('keeps no gateway from ending', async () => {
    await using shown = await startGatewayProcess();
    const headers = { accept: 'text/html' };
    assert.match(await (await fetch(`${shown.url}/`, { headers })).text(), /<h1>/);
    assert.deepEqual(await shown.stop(), { code: 0, signal: null });
  });

  it('shows on paper what can be read, and no controls', async () => {
    await using page = await browser.open(`${gateway.url}/`, { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('nav').isVisible(), false);
    assert.equal(await page.locator('h1').isVisible(), true);
    const colors = 'const { color, backgroundColor } = getComputedStyle(document.documentElement);';
    assert.deepEqual(
      await page.evaluate(`(() => { ${colors} return [color, backgroundColor]; })()`),
      ['rgb(0, 0, 0)', 'rgb(255, 255, 255)'],
    );
  });

  it('is no wider than the smallest phone', async () => {
    const viewport = { width: 320, height: 256 };
    await using page = await browser.open(`${gateway.url}/`, { viewport, locale: 'uk-UA' });
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 320);
    // The word is on one line.
    const lines = await page.evaluate(`(() => {
      const [name] = document.querySelector('.house-room a[href^="/rooms/consciousness"]').childNodes;
      const range = document.createRange();
      range.setStart(name, 0);
      range.setEnd(name, 'Consciousness'.length);
      return range.getClientRects().length;
    })()`);
    assert.equal(lines, 1);
    await page.setViewportSize({ width: 160, height: 128 });
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 160);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has no barrier that axe finds, ${colorScheme}`, async () => {
      await using page = await browser.open(`${gateway.url}/`, { colorScheme });
      await page.evaluate(axe.source);
      const found: unknown = await page.evaluate(
        'axe.run().then(({ violations, passes }) => ({ passes: passes.length, violations }))',
      );
      const { passes, violations } = asObject(found);
      assert.deepEqual(violations, []);
      assert.ok(asInteger(passes) > 10, 'it was looked at');
    });
  }
});

/** What an attribute of an element leads to. */
async function json(page: Page, selector: string, attribute: string): Promise<unknown> {
  const address = await page.locator(selector).getAttribute(attribute);
  return await (await fetch(new URL(address ?? '', page.url()))).json();
}

async function roomTitles(page: Page): Promise<string[]> {
  return await page.locator('a[href^="/rooms/"]').allInnerTexts();
}
