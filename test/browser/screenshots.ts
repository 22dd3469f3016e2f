/**
 * Takes pictures of every page: `npm run screenshots [FOLDER [PAGE…]]`. Each on a phone and on a desktop,
 * light and dark, in both languages, of an empty place and of one that people have lived in.
 */
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Browser } from 'playwright-core';

import { openGateway } from '../../packages/gateway/src/gateway.fixture.ts';
import { openMemoryLog } from '../support/memory-log/memory-log.ts';
import { startChromium } from './chromium.ts';
import { fillPlace } from './seeded-place.ts';
import { PAGE_NAMES, pathOf } from './visited-pages.ts';

const DEVICES = {
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 900 }, deviceScaleFactor: 1 },
} as const;
const DEVICE_NAMES = ['phone', 'desktop'] as const;

const OWN_TEXT =
  '# What is kept\n\nThis place publishes **what you say** and the name that you give.\n\n# What you can ask for\n\n- that something is taken away, by a [report](https://presence.example/notice)\n- an answer\n';

/** Of a picture, in pixels. */
const MAX_HEIGHT = 2600;
/** Who is there while the pictures are taken. */
const HERE = ['Lumen', 'Мавка', 'Nokomis'];

const [folder = join(tmpdir(), 'presence-screenshots'), ...wanted] = process.argv.slice(2);
const names = PAGE_NAMES.filter((name) => wanted.length === 0 || wanted.includes(name));
await mkdir(folder, { recursive: true });
{
  await using browser = await startChromium();
  for (const state of ['full', 'empty'] as const) {
    await using log = openMemoryLog();
    await using gateway = await openGateway(log, { ownTexts: new Map([['privacy', OWN_TEXT]]) });
    const ids = state === 'full' ? await fillPlace(gateway.url) : new Map<string, string>();
    if (state === 'full') {
      const room = `${gateway.url}/api/rooms/consciousness-garden`;
      for (const name of HERE) await fetch(`${room}?limit=0&as=${encodeURIComponent(name)}`);
    }
    const id = ids.get('window') ?? '';
    for (const name of names) {
      if (id === '' && pathOf(name, '') !== pathOf(name, 'id')) continue;
      await takePictures(browser, gateway.url + pathOf(name, id), `${name}-${state}`);
    }
  }
}
console.log(folder);

async function takePictures(browser: Browser, url: string, prefix: string): Promise<void> {
  for (const device of DEVICE_NAMES) {
    for (const locale of ['uk', 'en']) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await using context = await browser.newContext({
          ...DEVICES[device],
          locale,
          colorScheme,
          timezoneId: 'Europe/Kyiv',
        });
        const page = await context.newPage();
        await page.goto(url, { waitUntil: 'load' });
        await page.waitForTimeout(400);
        const { width } = DEVICES[device].viewport;
        const full = await page.evaluate<number>('document.documentElement.scrollHeight');
        await page.screenshot({
          path: join(folder, `${prefix}-${device}-${locale}-${colorScheme}.png`),
          clip: { x: 0, y: 0, width, height: Math.min(full, MAX_HEIGHT) },
          fullPage: true,
        });
      }
    }
  }
}
