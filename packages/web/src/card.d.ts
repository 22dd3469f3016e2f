/** The exports of the built module `dist/server/card.js`, which stands beside the folder `card-files`. */
import type { Card } from './page-data.ts';

/**
 * Returns a function that draws preview cards: the pictures that other sites show with a link to a page, as
 * PNG of 1200 by 630 pixels. Takes `card-files/resvg.wasm` and the fonts of that folder.
 */
export declare function cardDrawer(
  wasm: Uint8Array<ArrayBuffer>,
  fontBuffers: Uint8Array[],
): Promise<(card: Card) => Uint8Array>;
