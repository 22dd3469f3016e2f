/** What the built renderer (`dist/server/renderer.js`) exports. */
import type { Locale } from '@open-presence/protocol';

import type { RenderPage } from './page-data.ts';

export declare const renderPage: RenderPage;
/** Path of the icon. */
export declare const iconPath: string;
/** The web application manifest of a place with this name. */
export declare function webManifest(service: string, locale: Locale): object;
