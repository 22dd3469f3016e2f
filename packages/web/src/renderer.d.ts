/** The exports of the built renderer, `dist/server/renderer.js`. */
import type { Locale } from '@open-presence/protocol';

import type { RenderPage, Shell } from './page-data.ts';

export declare const renderPage: RenderPage;
export declare const iconPath: string;
export declare function webManifest(service: string, locale: Locale): object;
/** Title and description of a page that only this package has words for. */
export declare function pageTexts(
  page: 'inbox' | 'notice' | 'privacy' | 'search' | 'terms',
  locale: Locale,
): { readonly title: string; readonly description: string };
/** Title and description of the page of a name. `name`: isolated, and short enough for a title. */
export declare function visitorTexts(
  name: string,
  locale: Locale,
): { readonly title: string; readonly description: string };
/** The part of an address that the links and forms of a page repeat: without the language. */
export declare function repeatedAddress(
  path: string,
  query: URLSearchParams,
): Pick<Shell, 'url' | 'isCut'>;
/** The address of another page. Keeps the language that the visitor chose. */
export declare function href(shell: Shell, path: string): string;
/** The parameters of its address that a page repeats. */
export declare function queryIn(shell: Shell): URLSearchParams;
/** Tells people what the place is. */
export declare function leadOf(locale: Locale): string;

/** The name, or its characters where nobody can see it. */
export declare function visibleName(name: string): string;
