/** What the built renderer (`dist/server/renderer.js`) exports. */
import type { RenderPage } from './page-data.ts';

export declare const renderPage: RenderPage;
