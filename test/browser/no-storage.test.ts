// Whoever lets pages store nothing can speak as well as others.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import type { Page } from 'playwright-core';

import { dataFolder } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { entriesAt } from '../requests.ts';
import { sharedGateway } from '../shared.ts';
import { sharedChromium } from './chromium.ts';
import { hydrated } from './page-watch.ts';

const REFUSES = `IDBFactory.prototype.open = () => { throw new DOMException('', 'SecurityError'); };`;

describe('a browser that stores nothing', needs('chromium'), () => {
  const gateway = sharedGateway();
  const browser = sharedChromium();

  for (const reason of ['it refuses', 'it is full'] as const) {
    it(`sends a text from a file, and members, where ${reason}`, async () => {
      await using page = await browser.newPage({ locale: 'en' });
      if (reason === 'it refuses') await page.addInitScript(REFUSES);
      await page.goto(`${gateway.url}/rooms/memory-garden`);
      await hydrated(page);
      if (reason === 'it is full') await fill(page);
      await page.getByRole('button', { name: 'Plant a seed' }).click();
      await page.locator('.more-fields > summary').click();
      await using folder = await dataFolder();
      const path = join(folder.path, 'poem.txt');
      await writeFile(path, 'a poem');
      await page.getByLabel('Take the text from a file').setInputFiles(path);
      await page.getByRole('button', { name: 'Add something' }).click();
      await page.locator('.member-row').getByLabel('Name').fill('mood');
      await page.locator('.member-row').getByLabel('Value').fill('calm');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.waitForURL('**/entries/*');
      const [entry = {}] = await entriesAt(`${gateway.url}/api/seeds?limit=1`);
      assert.deepEqual([entry['text'], entry['mood']], ['a poem', 'calm']);
    });
  }

  it('keeps what it cannot send in the form', async () => {
    await using page = await browser.newPage({ locale: 'en' });
    await page.addInitScript(REFUSES);
    await page.goto(`${gateway.url}/rooms/shepit-wall`);
    await hydrated(page);
    await page.getByRole('button', { name: 'Whisper' }).click();
    await page.getByLabel('What you whisper').fill('said once');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').waitFor();
    assert.equal(await page.getByLabel('What you whisper').inputValue(), 'said once');
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL('**/entries/*');
    assert.equal((await entriesAt(`${gateway.url}/api/shepit`)).length, 1);
  });

  it('sends what was typed while another text was sent', async () => {
    await using page = await browser.newPage({ locale: 'en' });
    await page.addInitScript(REFUSES);
    await page.goto(`${gateway.url}/rooms/shepit-wall`);
    await hydrated(page);
    await page.getByRole('button', { name: 'Whisper' }).click();
    await page.getByLabel('What you whisper').fill('first');
    const { promise: typed, resolve: goOn } = Promise.withResolvers<void>();
    await page.route(
      '**/api/shepit',
      async (route) => {
        await typed;
        await route.continue();
      },
      { times: 1 },
    );
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByLabel('What you whisper').fill('second');
    goOn();
    await page.locator('form[aria-busy="false"]').waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL('**/entries/*');
    const [last = {}] = await entriesAt(`${gateway.url}/api/shepit?limit=1`);
    assert.equal(last['text'], 'second');
  });
});

/** From now on, the browser has no space for what the page stores. */
async function fill(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { origin } = new URL(page.url());
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
}
