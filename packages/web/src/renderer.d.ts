/** What the built renderer (`dist/server/renderer.js`) exports. */
import type { Locale } from '@open-presence/protocol';

import type { RenderPage } from './page-data.ts';

export declare const renderPage: RenderPage;
/** Path of the icon. */
export declare const iconPath: string;
/** The web application manifest of a place with this name. */
export declare function webManifest(service: string, locale: Locale): object;
/** Of a page that only the pages have words for. */
export declare function pageTexts(
  page: 'inbox' | 'search',
  locale: Locale,
): { readonly title: string; readonly description: string };
/** Path and query of an address, without the language. */
export declare function withoutLanguage(address: URL): string;
/** What the place is, for people. */
export declare function leadOf(locale: Locale): string;
