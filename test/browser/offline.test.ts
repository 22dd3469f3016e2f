/** The page that stands for all others while the gateway cannot be reached. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { dataFolder, freePort, startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { startChromium } from './chromium.ts';
import { hydrated } from './page-watch.ts';

const LANGUAGE = new URL('../../packages/protocol/mova-snu.yaml', import.meta.url);
const DRAFT = 'Begun before the light went out';

test(
  'a page says where one is and what one began to write, and opens by itself after the gateway is back',
  needs('chromium'),
  async () => {
    await using folder = await dataFolder();
    const options = { data: folder.path, args: ['--port', String(await freePort())] };
    const gateway = await startGatewayProcess(options);
    await using browser = await startChromium();
    const page = await (await browser.newContext({ locale: 'uk-UA' })).newPage();
    const room = `${gateway.url}/rooms/consciousness-garden`;
    await page.goto(room);
    await page.evaluate('navigator.serviceWorker.ready');
    const text = page.getByLabel('Твій текст');
    await page.locator('#take-part').getByRole('button', { name: 'Залишити слід' }).click();
    await text.fill(DRAFT);
    await page.waitForFunction(
      `indexedDB.databases().then(() => new Promise((resolve) => {
        const opened = indexedDB.open('open-presence');
        opened.onsuccess = () => {
          const count = opened.result.transaction('drafts').objectStore('drafts').count();
          count.onsuccess = () => { opened.result.close(); resolve(count.result === 1); };
        };
      }))`,
    );
    await page.goto(`${gateway.url}/rooms/welcome-space`);
    await page.locator('#take-part').getByRole('button', { name: 'Назвати себе' }).click();
    await page.getByLabel('Чого').first().fill('тиша');
    await page.goto(room);
    await gateway.stop();

    await page.reload();
    await page.getByRole('heading', { name: 'Немає зв’язку' }).waitFor();
    const main = page.locator('main');
    await main.getByText(DRAFT).waitFor();
    assert.ok((await main.innerText()).includes('/rooms/consciousness-garden'));
    assert.equal(page.url(), room);
    await page.goto(`${gateway.url}/visitors/Мавка?lang=en`);
    await page.getByRole('heading', { name: 'No connection' }).waitFor();
    assert.ok((await main.innerText()).includes('/visitors/Мавка'));
    assert.ok(!(await main.innerText()).includes(DRAFT));
    await page.goto(`${gateway.url}/rooms/welcome-space`);
    await main.getByText('тиша').waitFor();
    await page.goBack();
    await page.goBack();
    await main.getByText(DRAFT).waitFor();

    await using _ = await startGatewayProcess(options);
    await text.waitFor();
    assert.equal(await text.inputValue(), DRAFT);
  },
);

test(
  'it has the language of the place for a browser that prefers no other',
  needs('chromium'),
  async () => {
    await using folder = await dataFolder();
    const language = join(folder.path, 'language.yaml');
    const words = await readFile(LANGUAGE, 'utf8');
    await writeFile(language, words.replace(/^service:$/m, 'service:\n  shown: uk'));
    await using gateway = await startGatewayProcess({ args: ['--language', language] });
    await using browser = await startChromium();
    const page = await (await browser.newContext({ locale: 'de-DE' })).newPage();
    await page.goto(gateway.url);
    assert.equal(await page.locator('html').getAttribute('lang'), 'uk');
    await page.evaluate('navigator.serviceWorker.ready');
    await gateway.stop();
    await page.reload();
    await page.getByRole('heading', { name: 'Немає зв’язку' }).waitFor();
  },
);

test(
  'what waits is sent, though an older page is open whose scripts are gone',
  needs('chromium'),
  async () => {
    await using gateway = await startGatewayProcess();
    await using browser = await startChromium();
    const context = await browser.newContext({ locale: 'en', serviceWorkers: 'block' });
    const openRoom = async (): Promise<Page> => {
      const page = await context.newPage();
      await page.goto(`${gateway.url}/rooms/shepit-wall`);
      await hydrated(page);
      return page;
    };
    const old = await openRoom();
    await old.route('**/web/assets/**', (route) => route.fulfill({ status: 404 }));
    const page = await openRoom();
    await page.getByRole('button', { name: 'Whisper' }).click();
    await page.getByLabel('What you whisper').fill('it waits');
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.outbox-item[data-state=waiting]').waitFor();
    await page.close();
    const tried = old.waitForRequest('**/web/assets/**');
    await context.setOffline(false);
    await tried;
    const next = await openRoom();
    await next.locator('.outbox-item[data-state=stored]').waitFor();
  },
);
