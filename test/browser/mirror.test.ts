/** The pages of a mirror: what is said on them is stored by the gateway that is mirrored. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { freePort, startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { shared } from '../shared.ts';
import { textAt } from '../requests.ts';
import { sharedChromium } from './chromium.ts';

describe('the pages of a mirror, in Chromium', needs('chromium'), () => {
  const gateways = shared(async (owned) => {
    // A gateway for its own machine would refuse the redirected form, whose `Origin` is null.
    const port = String(await freePort());
    const address = ['--port', port, '--public-url', `http://127.0.0.1:${port}`];
    const origin = owned.use(await startGatewayProcess({ args: address }));
    const mirror = owned.use(await startGatewayProcess({ args: ['--mirror', origin.url] }));
    return { origin, mirror };
  });
  const browser = sharedChromium();

  for (const javaScriptEnabled of [true, false]) {
    it(`store what is said ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
      const text = `a mirrored trace, ${javaScriptEnabled}`;
      const { origin, mirror } = gateways();
      const room = `${mirror.url}/rooms/consciousness-garden`;
      await using page = await browser.open(room, { javaScriptEnabled, locale: 'en-GB' });
      const opener = javaScriptEnabled ? 'button' : 'link';
      await page.locator('#take-part').getByRole(opener, { name: 'Leave a trace' }).click();
      await page.getByLabel('Your text').fill(text);
      await page.getByLabel('Your name').fill('Echo');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.locator('#e1, #e2').getByText(text).waitFor();
      assert.ok((await textAt(`${origin.url}/api/garden`)).includes(text));
    });
  }
});
