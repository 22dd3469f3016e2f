/**
 * Draws the PNG images from the SVG images beside them, with Chromium. Run it by hand after changing an SVG
 * image: `npm exec -c 'node packages/web/scripts/draw-images.ts'`.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startChromium } from '../../../test/browser/chromium.ts';

const FOLDER = join(import.meta.dirname, '../src/images');

/** Each PNG: its name, the name of its SVG, and its size in pixels. */
const IMAGES = [
  ['icon-180', 'icon-maskable', 180, 180],
  ['icon-192', 'icon', 192, 192],
  ['icon-512', 'icon', 512, 512],
  ['icon-maskable-512', 'icon-maskable', 512, 512],
] as const;

const browser = await startChromium();
for (const [name, source, width, height] of IMAGES) {
  const page = await browser.newPage({ viewport: { width, height } });
  const svg = await readFile(join(FOLDER, `${source}.svg`), 'base64');
  await page.setContent(
    `<style>*{margin:0}img{display:block;width:100vw;height:100vh}</style><img src="data:image/svg+xml;base64,${svg}">`,
  );
  await page.screenshot({ path: join(FOLDER, `${name}.png`), omitBackground: true });
  await page.close();
}
await browser.close();
