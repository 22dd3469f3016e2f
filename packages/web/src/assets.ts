/** The hashed addresses of the files that a page loads, from the manifest of the build for browsers. */
import cyrillic from '@fontsource-variable/literata/files/literata-cyrillic-wght-normal.woff2?url';
import latin from '@fontsource-variable/literata/files/literata-latin-wght-normal.woff2?url';
import type { Locale } from '@open-presence/protocol';

import icon180 from './images/icon-180.png';
import icon192 from './images/icon-192.png';
import icon512 from './images/icon-512.png';
import maskable from './images/icon-maskable-512.png';
import icon from './images/icon.svg?url';
/** The build defines it. */
declare const CLIENT_MANIFEST: Readonly<Record<string, { readonly file: string }>>;

export const ICONS = { svg: icon, apple: icon180, small: icon192, large: icon512, maskable };

export interface PageAssets {
  readonly script: string;
  readonly style: string;
  readonly fonts: readonly string[];
}

export function assetsOf(locale: Locale): PageAssets {
  return {
    script: addressOf('src/browser/main.ts'),
    style: addressOf('style.css'),
    fonts: locale === 'uk' ? [cyrillic, latin] : [latin],
  };
}

/** `name`: of a source file or a style, as the manifest of the build has it. */
function addressOf(name: string): string {
  return `/web/${CLIENT_MANIFEST[name]?.file ?? ''}`;
}
