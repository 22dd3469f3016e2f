/** The pages of a mirror: what is said on them is stored by the gateway that is mirrored. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import type { Browser } from 'playwright-core';

import {
  dataFolder,
  freePort,
  startGatewayProcess,
  type GatewayProcess,
} from '../gateway-process.ts';
import { startChromium } from './chromium.ts';
import { needs } from '../needs.ts';

describe('the pages of a mirror, in Chromium', needs('chromium'), () => {
  const owned = new AsyncDisposableStack();
  let origin: GatewayProcess;
  let mirror: GatewayProcess;
  let browser: Browser;
  before(async () => {
    const folders = owned.use(await dataFolder());
    // A gateway for its own machine would refuse the redirected form, whose `Origin` is null.
    const port = String(await freePort());
    const address = ['--port', port, '--public-url', `http://127.0.0.1:${port}`];
    const data = join(folders.path, 'origin');
    origin = owned.use(await startGatewayProcess({ data, args: address }));
    const args = ['--mirror', origin.url];
    mirror = owned.use(await startGatewayProcess({ data: join(folders.path, 'mirror'), args }));
    browser = await startChromium();
    owned.defer(() => browser.close());
  });
  after(() => owned.disposeAsync());

  for (const javaScriptEnabled of [true, false]) {
    it(`store what is said ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
      const page = await browser.newPage({ javaScriptEnabled, locale: 'en-GB' });
      const text = `a mirrored trace, ${javaScriptEnabled}`;
      await page.goto(`${mirror.url}/rooms/consciousness-garden`);
      const opener = javaScriptEnabled ? 'button' : 'link';
      await page.locator('#take-part').getByRole(opener, { name: 'Leave a trace' }).click();
      await page.getByLabel('Your text').fill(text);
      await page.getByLabel('Your name').fill('Echo');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.locator('#e1, #e2').getByText(text).waitFor();
      const answer = await fetch(`${origin.url}/api/garden`);
      assert.ok((await answer.text()).includes(text));
      await page.close();
    });
  }
});
