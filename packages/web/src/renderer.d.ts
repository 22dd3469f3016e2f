/** The exports of the built renderer, `dist/server/renderer.js`. */
import type { Locale } from '@open-presence/protocol';

import type { RenderEntry, RenderPage, Shell } from './page-data.ts';

export declare const renderPage: RenderPage;
export declare const renderEntry: RenderEntry;
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
/** The address of another page. Keeps the language that the visitor chose. */
export declare function href(shell: Shell, path: string): string;
/** The parameters in the address of the page. */
export declare function queryIn(shell: Shell): URLSearchParams;
/** Tells people what the place is. */
export declare function leadOf(locale: Locale): string;

/** The name, or its characters where nobody can see it. */
export declare function visibleName(name: string): string;
/** Whether the page has the name in full. An empty name names nobody. */
export declare function isWholeName(name: string | undefined): name is string;

/** The authors of most of the entries; undefined for those who gave no name. */
export declare function mainAuthors(
  entries: Iterable<{ readonly author?: string | undefined }>,
): readonly (string | undefined)[];
