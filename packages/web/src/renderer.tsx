/** Renders pages on the server. Built as one module without imports. */
import { renderToString } from 'preact-render-to-string';

import { ICONS } from './assets.ts';
import { Document } from './document.tsx';
import type { PageComponent } from './app.tsx';
import type { PageName, RenderPage } from './page-data.ts';
import { Page as ErrorPage } from './pages/error.tsx';
import { Page as Garden } from './pages/garden.tsx';
import { Page as House } from './pages/house.tsx';
import { Page as Speak } from './pages/speak.tsx';
import { Page as Waking } from './pages/waking.tsx';

const PAGES = {
  error: ErrorPage,
  garden: Garden,
  house: House,
  speak: Speak,
  waking: Waking,
} satisfies Record<PageName, unknown>;

export const renderPage: RenderPage = (data, options = {}) => {
  // Each component takes the data of its own page.
  const page = PAGES[data.page] as PageComponent;
  return `<!doctype html>${renderToString(<Document data={data} page={page} {...options} />)}`;
};

export { webManifest } from './web-manifest.ts';

export const iconPath: string = ICONS.svg;
