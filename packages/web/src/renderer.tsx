/** Renders pages on the server. Built as one module without imports. */
import type { Locale } from '@open-presence/protocol';
import { renderToString } from 'preact-render-to-string';

import type { PageComponent } from './app.tsx';
import { ICONS } from './assets.ts';
import { Document } from './document.tsx';
import { EntryView } from './entries/entry-view.tsx';
import type { RenderEntry, RenderPage } from './page-data.ts';
import { FrameContext } from './shell.ts';
import { wordsIn } from './words/words.ts';

const PAGES = import.meta.glob<PageComponent>('./pages/*.tsx', { import: 'Page', eager: true });

/** Control characters and noncharacters that HTML does not allow. */
// oxlint-disable-next-line no-control-regex -- It looks for controls.
const FORBIDDEN = /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]/g;

export const renderPage: RenderPage = (data, options = {}) => {
  const page = PAGES[`./pages/${data.page}.tsx`];
  if (page === undefined) throw new Error(`There is no component for the page ${data.page}`);
  const html = renderToString(<Document data={data} page={page} {...options} />);
  return `<!doctype html>${html.replaceAll(FORBIDDEN, '\ufffd')}`;
};

export const renderEntry: RenderEntry = (entry, shell, options) => {
  const html = renderToString(
    <FrameContext.Provider value={{ shell, words: wordsIn(shell.locale) }}>
      <EntryView entry={entry} {...options} />
    </FrameContext.Provider>,
  );
  return html.replaceAll(FORBIDDEN, '\ufffd');
};

export { mainAuthors } from './garden/main-authors.ts';
export { href, queryIn } from './shell.ts';
export { isWholeName, visibleName } from './visitor-name.tsx';
export { webManifest } from './web-manifest.ts';

export const iconPath: string = ICONS.svg;

export function leadOf(locale: Locale): string {
  return wordsIn(locale).house.lead;
}

export function visitorTexts(
  name: string,
  locale: Locale,
): { readonly title: string; readonly description: string } {
  const { entry, visitor } = wordsIn(locale);
  const title = name === '' ? entry.unnamed : name;
  return { title, description: visitor.description(title) };
}

export function pageTexts(
  page: 'inbox' | 'notice' | 'privacy' | 'search' | 'terms',
  locale: Locale,
): { readonly title: string; readonly description: string } {
  const { title, description } = wordsIn(locale)[page];
  return { title, description };
}
