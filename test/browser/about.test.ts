import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import axe from 'axe-core';
import type { Browser } from 'playwright-core';

import { asObject, asInteger } from '../../conformance/value.ts';
import { startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';
import { startChromium } from './chromium.ts';

describe('the page at /, in Chromium', () => {
  const owned = new AsyncDisposableStack();
  let gateway: GatewayProcess;
  let browser: Browser;
  before(async () => {
    gateway = owned.use(await startGatewayProcess());
    browser = await startChromium();
    owned.defer(() => browser.close());
  });
  after(() => owned.disposeAsync());

  it('the welcome is shown as it is meant, loads nothing and says nothing', async () => {
    const page = await browser.newPage({ locale: 'uk-UA' });
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${gateway.url}/`, { waitUntil: 'networkidle' });
    assert.deepEqual(
      asked.filter((url) => !url.startsWith('data:')),
      [`${gateway.url}/`],
    );
    assert.deepEqual(complaints, []);
    assert.equal(await page.locator('html').getAttribute('lang'), 'uk');
    assert.match(await page.locator('h1').innerText(), /Брама/);
    const width = await page.evaluate('getComputedStyle(document.body).maxWidth');
    assert.notEqual(width, 'none', 'its own style is let in');
    assert.match(
      await (await fetch(`${gateway.url}/api/events?limit=0&after=0`)).text(),
      /"head":0/,
    );
    await page.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`the welcome can be used by everybody, ${colorScheme}`, async () => {
      const page = await browser.newPage({ colorScheme });
      await page.goto(`${gateway.url}/`);
      await page.evaluate(axe.source);
      const found: unknown = await page.evaluate(
        'axe.run().then(({ violations, passes }) => ({ passes: passes.length, violations }))',
      );
      const { passes, violations } = asObject(found);
      assert.deepEqual(violations, []);
      assert.ok(asInteger(passes) > 10, 'it was looked at');
      await page.close();
    });
  }
});
