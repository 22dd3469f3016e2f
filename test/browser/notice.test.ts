// A report from the page of an entry to what became of it, with scripts and without.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { needs } from '../needs.ts';
import { presence } from '../command.ts';
import { isReady } from './page-watch.ts';
import { sharedGateway } from '../shared.ts';
import { contribute } from '../requests.ts';
import { sharedChromium } from './chromium.ts';

const CONTACT = '"me" <me@example.org> & others';

describe('a report', needs('chromium'), () => {
  const gateway = sharedGateway();
  const browser = sharedChromium();
  let entry = '';
  before(async () => {
    entry = await contribute(gateway.url, 'seeds', { text: 'Main Street 5' });
  });

  for (const [how, javaScriptEnabled] of [
    ['with scripts', true],
    ['without scripts', false],
  ] as const) {
    it(`${how}, keeps what was typed when it is refused, and says what became of it`, async () => {
      const options = { javaScriptEnabled, locale: 'en' };
      await using page = await browser.open(`${gateway.url}/entries/${entry}`, options);
      const loaded = async (): Promise<void> => {
        if (javaScriptEnabled) await isReady(page);
      };
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
    });
  }
});
