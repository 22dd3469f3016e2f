/** The web application manifest, which makes the pages installable. */
import type { Locale } from '@open-presence/protocol';

import { ICONS } from './assets.ts';

/** `--paper` of `theme.css`. */
export const PAPER = { light: '#faf6ec', dark: '#0e1918' } as const;

export function webManifest(service: string, locale: Locale): object {
  return {
    id: '/',
    name: service,
    short_name: service,
    lang: locale,
    start_url: `/?lang=${locale}`,
    scope: '/',
    display: 'minimal-ui',
    background_color: PAPER.dark,
    theme_color: PAPER.dark,
    icons: [
      { src: ICONS.svg, sizes: 'any', type: 'image/svg+xml' },
      { src: ICONS.small, sizes: '192x192', type: 'image/png' },
      { src: ICONS.large, sizes: '512x512', type: 'image/png' },
      { src: ICONS.maskable, sizes: '512x512', type: 'image/png', purpose: 'maskable' },
    ],
  };
}
