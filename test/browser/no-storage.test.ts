// Whoever lets pages store nothing can speak as well as others.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { entriesAt } from '../requests.ts';
import { startChromium } from './chromium.ts';
import { isReady } from './page-watch.ts';

const REFUSES = `Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); };`;

test(
  'a browser that stores nothing sends a text from a file, and members',
  needs('chromium'),
  async () => {
    await using gateway = await startGatewayProcess();
    await using browser = await startChromium();
    const page = await browser.newPage({ locale: 'en' });
    await page.addInitScript(REFUSES);
    await page.goto(`${gateway.url}/rooms/memory-garden`);
    await isReady(page);
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
    await page.getByText(/^Stored at/).waitFor();
    const [entry = {}] = await entriesAt(`${gateway.url}/api/seeds?limit=1`);
    assert.deepEqual([entry['text'], entry['mood']], ['a poem', 'calm']);
  },
);
