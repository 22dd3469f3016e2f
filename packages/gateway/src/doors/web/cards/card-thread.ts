/** A thread that draws cards, one after the other: it takes a `Card` and posts a PNG. */
import { readdir, readFile } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';

import { cardDrawer } from '@open-presence/web/card';
import type { Card } from '@open-presence/web/page-data';

const FOLDER = new URL('card-files/', import.meta.resolve('@open-presence/web/card'));

const drawing = startDrawing();

parentPort?.on('message', (card: Card) => {
  void drawing.then((draw) => parentPort?.postMessage(draw(card)));
});

async function startDrawing(): Promise<(card: Card) => Uint8Array> {
  const fonts = (await readdir(FOLDER)).filter((name) => name.endsWith('.woff2'));
  return await cardDrawer(await read('resvg.wasm'), await Promise.all(fonts.map(read)));
}

function read(name: string) {
  return readFile(new URL(name, FOLDER));
}
