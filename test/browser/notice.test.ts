// A report from the page of an entry to what became of it, with scripts and without.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import type { Browser } from 'playwright-core';

import { needs } from '../needs.ts';
import { startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';
import { presence } from '../notices/notices.ts';
import { startChromium } from './chromium.ts';
import { hydrated } from './page-watch.ts';

const CONTACT = '"me" <me@example.org> & others';

describe('a report', needs('chromium'), () => {
  const owned = new AsyncDisposableStack();
  let gateway: GatewayProcess;
  let browser: Browser;
  let entry = '';
  before(async () => {
    gateway = owned.use(await startGatewayProcess());
    browser = await startChromium();
    owned.defer(() => browser.close());
    const body = JSON.stringify({ text: 'Main Street 5' });
    const answer = await fetch(`${gateway.url}/api/seeds`, { method: 'POST', body });
    entry = ((await answer.json()) as { id: string }).id;
  });
  after(() => owned.disposeAsync());

  for (const [how, javaScriptEnabled] of [
    ['with scripts', true],
    ['without scripts', false],
  ] as const) {
    it(`${how}, keeps what was typed when it is refused, and says what became of it`, async () => {
      const context = await browser.newContext({ javaScriptEnabled, locale: 'en' });
      const page = await context.newPage();
      const loaded = async (): Promise<void> => {
        if (javaScriptEnabled) await hydrated(page);
      };
      await page.goto(`${gateway.url}/entries/${entry}`);
      await loaded();
      await page.getByRole('link', { name: 'Report' }).click();
      await page.waitForURL('**/notice?**');
      await loaded();
      const [what, why, contact] = ['What', 'Why', 'How'].map((label) => page.getByLabel(label));
      assert.equal(await what?.inputValue(), `/entries/${entry}`);
      await contact?.fill(CONTACT);
      await why?.fill(' ');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('alert').waitFor();
      await loaded();
      assert.match(await page.locator('.field-why').innerText(), /"why" must be a text/);
      assert.equal(await what?.inputValue(), `/entries/${entry}`);
      assert.equal(await contact?.inputValue(), CONTACT);
      await why?.fill(`My address, ${how}\n\nPlease`);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.waitForURL('**/notice/*');
      await loaded();
      const number = await page.locator('code').innerText();
      assert.doesNotMatch(await page.content(), /My address|example\.org/);
      assert.match(await page.getByRole('main').innerText(), /waits for the people/);
      const { data } = gateway;
      const { stdout } = await presence('notices', 'show', number, '--data', data);
      const text = `"why":"My address, ${how}\\r\\n\\r\\nPlease","contact":${JSON.stringify(CONTACT)}`;
      assert.ok(stdout.includes(text), stdout);
      await presence('notices', 'close', number, '--reason', '<b>It stays</b>', '--data', data);
      await page.reload();
      await loaded();
      assert.match(await page.getByRole('main').innerText(), /Closed .*: <b>It stays<\/b>/);
      await context.close();
    });
  }
});
