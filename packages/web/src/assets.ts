/** The hashed addresses of the files that a page loads, from the manifest of the build for browsers. */
import cyrillic from '@fontsource-variable/literata/files/literata-cyrillic-wght-normal.woff2?url';
import latin from '@fontsource-variable/literata/files/literata-latin-wght-normal.woff2?url';
import type { Locale } from '@open-presence/protocol';

import icon180 from './images/icon-180.png';
import icon192 from './images/icon-192.png';
import icon512 from './images/icon-512.png';
import maskable from './images/icon-maskable-512.png';
import icon from './images/icon.svg?url';
import type { PageName } from './page-data.ts';

interface ManifestChunk {
  readonly file: string;
  readonly imports?: readonly string[];
}

/** The build defines it. */
declare const CLIENT_MANIFEST: Readonly<Record<string, ManifestChunk>>;

export const ICONS = { svg: icon, apple: icon180, small: icon192, large: icon512, maskable };

export interface PageAssets {
  readonly script: string;
  /** Scripts that the page imports. */
  readonly preloads: readonly string[];
  readonly style: string;
  readonly fonts: readonly string[];
}

export function assetsOf(page: PageName, locale: Locale): PageAssets {
  const entry = 'src/client.tsx';
  const found = new Set<string>();
  addImports(entry, found);
  addImports(`src/pages/${page}.tsx`, found);
  addImports(`src/words/${locale}.ts`, found);
  const [script = '', ...preloads] = Array.from(found, (name) => addressOf(name));
  return {
    script,
    preloads,
    style: addressOf('style.css'),
    fonts: locale === 'uk' ? [cyrillic, latin] : [latin],
  };
}

function addImports(name: string, found: Set<string>): void {
  if (found.has(name)) return;
  found.add(name);
  for (const imported of CLIENT_MANIFEST[name]?.imports ?? []) addImports(imported, found);
}

/** `name`: of a source file or a style, as the manifest of the build has it. */
function addressOf(name: string): string {
  return `/web/${CLIENT_MANIFEST[name]?.file ?? ''}`;
}
