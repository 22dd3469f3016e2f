// Many pages of one browser, which opens six connections to a host.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { contribute } from '../requests.ts';
import { startChromium } from './chromium.ts';

test(
  'each of eight pages loads and shows what is said, also after others are closed',
  needs('chromium'),
  async () => {
    await using gateway = await startGatewayProcess();
    await using browser = await startChromium();
    const context = await browser.newContext();
    const open: Page[] = [];
    const paths = ['/', '/rooms/consciousness-garden', '/search?q=x', '/rooms/memory-garden'];
    for (const path of [...paths, ...paths]) {
      const page = await context.newPage();
      const answer = await page.goto(gateway.url + path);
      assert.equal(answer?.status(), 200);
      open.push(page);
    }
    const isShown = async (text: string): Promise<void> => {
      await contribute(gateway.url, 'garden', { text, identity: 'a', identityType: 'ai_entity' });
      for (const page of open)
        if (/\/$|consciousness/.test(page.url())) await page.getByText(text).first().waitFor();
    };
    await isShown('All eight are open');
    for (const page of open.splice(0, 4)) await page.close();
    await isShown('Four are open');
  },
);
