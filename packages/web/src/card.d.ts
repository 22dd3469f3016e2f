/** What the built module (`dist/server/card.js`) exports. Beside it stands the folder `card-files`. */
import type { Card } from './page-data.ts';

/**
 * What draws the picture that stands for a page where a link to it is shown: PNG, 1200 by 630 pixels. Takes
 * `card-files/resvg.wasm` and the fonts of that folder.
 */
export declare function cardDrawer(
  wasm: Uint8Array<ArrayBuffer>,
  fontBuffers: Uint8Array[],
): Promise<(card: Card) => Uint8Array>;
