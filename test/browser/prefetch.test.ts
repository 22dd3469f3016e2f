import assert from 'node:assert/strict';
import { it } from 'node:test';

import { startGatewayProcess } from '../gateway-process.ts';
import { startChromium } from './chromium.ts';
import { needs } from '../needs.ts';
import { entriesAt } from '../requests.ts';
import { serve } from '../web-site.ts';

it(
  'what a browser fetches ahead says nothing; what is then followed is said once',
  needs('chromium'),
  async () => {
    await using gateway = await startGatewayProcess();
    const said = async (): Promise<number> => (await entriesAt(`${gateway.url}/api/seeds`)).length;
    const href = `${gateway.url}/api/say/seeds?text=ahead&amp;identity=Lumen`;
    await using site = await serve(
      `<link rel="prefetch" href="${href}"><a href="${href}">say it</a>`,
    );
    await using browser = await startChromium();
    const page = await browser.newPage();
    const ahead = page.waitForResponse(/\/api\/say\//);
    await page.goto(site.url);
    assert.equal((await ahead).status(), 204);
    assert.equal(await said(), 0);
    const followed = page.waitForResponse(/\/api\/say\//);
    await page.locator('a').click();
    assert.equal((await followed).status(), 201);
    assert.equal(await said(), 1);
  },
);
