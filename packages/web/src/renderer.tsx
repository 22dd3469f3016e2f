/** Renders pages on the server. Built as one module without imports. */
import { renderToString } from 'preact-render-to-string';

import { assetsOf, ICONS } from './assets.ts';
import { Document } from './document.tsx';
import type { PageComponent } from './app.tsx';
import type { Locale } from '@open-presence/protocol';

import type { PageName, RenderPage } from './page-data.ts';
import { Page as EntryPage } from './pages/entry.tsx';
import { Page as ErrorPage } from './pages/error.tsx';
import { Page as Garden } from './pages/garden.tsx';
import { Page as House } from './pages/house.tsx';
import { Page as Inbox } from './pages/inbox.tsx';
import { Page as Notice } from './pages/notice.tsx';
import { Page as Offline } from './pages/offline.tsx';
import { Page as Room } from './pages/room.tsx';
import { Page as Search } from './pages/search.tsx';
import { Page as Speak } from './pages/speak.tsx';
import { Page as Text } from './pages/text.tsx';
import { Page as Visitor } from './pages/visitor.tsx';
import { Page as Waking } from './pages/waking.tsx';
import { Page as Write } from './pages/write.tsx';
import worker from './service-worker.js?raw';
import { wordsIn } from './words/words.ts';

const PAGES = {
  entry: EntryPage,
  error: ErrorPage,
  garden: Garden,
  house: House,
  inbox: Inbox,
  notice: Notice,
  offline: Offline,
  room: Room,
  search: Search,
  speak: Speak,
  text: Text,
  visitor: Visitor,
  waking: Waking,
  write: Write,
} satisfies Record<PageName, unknown>;

/** Control characters and noncharacters that HTML does not allow. */
// oxlint-disable-next-line no-control-regex -- It looks for controls.
const FORBIDDEN = /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]/g;

export const renderPage: RenderPage = (data, options = {}) => {
  // Each component takes the data of its own page.
  const page = PAGES[data.page] as PageComponent;
  const html = renderToString(<Document data={data} page={page} {...options} />);
  return `<!doctype html>${html.replaceAll(FORBIDDEN, '\ufffd')}`;
};

export { href, queryIn, repeatedAddress } from './shell.ts';
export { webManifest } from './web-manifest.ts';

export const iconPath: string = ICONS.svg;

/** Its first line changes with the assets, so that browsers store the new ones for the offline page. */
export const serviceWorker: string = `// ${JSON.stringify([assetsOf('offline', 'en'), assetsOf('offline', 'uk')])}\n${worker}`;

/** Tells people what the place is. */
export function leadOf(locale: Locale): string {
  return wordsIn(locale).house.lead;
}

/** `name`: isolated, and short enough for a title. */
export function visitorTexts(
  name: string,
  locale: Locale,
): { readonly title: string; readonly description: string } {
  return { title: name, description: wordsIn(locale).visitor.description(name) };
}

export function pageTexts(
  page: 'inbox' | 'notice' | 'offline' | 'privacy' | 'search' | 'terms',
  locale: Locale,
): { readonly title: string; readonly description: string } {
  const { title, description } = wordsIn(locale)[page];
  return { title, description };
}
