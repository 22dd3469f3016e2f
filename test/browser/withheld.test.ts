// What is withheld disappears from pages that are open, and is on none that are opened later.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { startGatewayProcess } from '../gateway-process.ts';
import { withhold } from '../withhold/command.ts';
import { startChromium } from './chromium.ts';
import { needs } from '../needs.ts';

const SECRET = 'Xyzzy4711';
const REASON = 'Asked for by its author';
const PATHS = ['/', '/rooms/consciousness-garden'];

test(
  'pages that are open let go of what is withheld, with scripts; without, once they are loaded',
  needs('chromium'),
  async () => {
    await using gateway = await startGatewayProcess();
    await using browser = await startChromium();
    const author = new Gateway(gateway.url, { identity: SECRET });
    const { id } = await author.leaveTrace(`${SECRET} was here`);
    await new Gateway(gateway.url, { identity: 'B' }).leaveTrace('stays');
    const reader = new Gateway(gateway.url, { identity: 'D' });
    const answer = await reader.leaveTrace({ text: 'an answer', inReplyTo: id });
    const pages = await Promise.all(
      [...PATHS, `/entries/${id}`, `/entries/${answer.id}`, '/visitors/D?show=conversations'].map(
        async (path) => {
          const page = await browser.newPage();
          const stream = page.waitForResponse(/\/web\/events/);
          await page.goto(gateway.url + path);
          await stream;
          await page.getByText(`${SECRET} was here`).first().waitFor();
          return page;
        },
      ),
    );
    const { code, stderr } = await withhold(gateway.data, id, '--reason', REASON, '--yes');
    assert.equal(code, 0, stderr);
    for (const page of pages) {
      await page.getByText(REASON).first().waitFor();
      assert.ok(!(await page.locator('main').innerText()).includes(SECRET), page.url());
    }
    const context = await browser.newContext({ javaScriptEnabled: false });
    const still = await context.newPage();
    for (const path of [...PATHS, `/entries/${id}`]) {
      await still.goto(gateway.url + path);
      const html = await still.content();
      assert.ok(html.includes(REASON) && !html.includes(SECRET), path);
    }
  },
);
