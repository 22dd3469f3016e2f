/** Pages that are open, and come back, while an older backup takes the place of the log. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { presence } from '../command.ts';
import { dataFolder, freePort, startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { contribute } from '../requests.ts';
import { startChromium } from './chromium.ts';
import { isReady } from './page-watch.ts';

const DAY_MS = 24 * 60 * 60_000;

test(
  'pages begin anew with a restored log, whose entries have the seqs of others',
  needs('chromium'),
  async () => {
    await using folder = await dataFolder();
    const data = join(folder.path, 'data');
    const backup = join(folder.path, 'backup');
    const options = { data, args: ['--port', String(await freePort())] };
    const gateway = await startGatewayProcess(options);
    const { url } = gateway;
    const say = (text: string): Promise<string> =>
      contribute(url, 'garden', { text, identity: 'Weft', identityType: 'x', to: 'Lumen' });
    await say('kept');
    const { code, stderr } = await presence('backup', backup, '--data', data);
    assert.equal(code, 0, stderr);
    await say('lost');
    await say('lost too');

    await using browser = await startChromium();
    const context = await browser.newContext({ locale: 'en' });
    const pages = await Promise.all(
      ['/', '/rooms/consciousness-garden', '/inbox?to=Lumen&after=3'].map(async (path) => {
        const page = await context.newPage();
        await page.goto(url + path);
        await isReady(page);
        await page.getByText('lost too').first().waitFor();
        return page;
      }),
    );
    await gateway.stop();
    const restored = await presence('restore', backup, '--data', data, '--replace');
    assert.equal(restored.code, 0, restored.stderr);
    await using _ = await startGatewayProcess(options);
    await say('said since');
    for (const page of pages) {
      await page.bringToFront();
      await page.getByText('said since').first().waitFor();
      assert.equal(await page.getByText('lost').count(), 0, page.url());
    }

    // Of what the device has read, nothing counts for this log.
    await Promise.all(pages.map((page) => page.close()));
    for (const text of ['more', 'still more']) await say(text);
    const page = await context.newPage();
    await page.clock.setFixedTime(Date.now() + DAY_MS);
    await page.goto(url);
    await page.locator('.new-since').getByText('2').waitFor();
  },
);
