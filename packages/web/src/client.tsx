/**
 * The script of every page: takes over the page that the server has rendered. Loads the components of that page only.
 */
import './images/icon-180.png';
import './images/icon-192.png';
import './images/icon-512.png';
import './images/icon-maskable-512.png';
import './images/icon.svg?url';
import './styles/index.css';

import type { Locale } from '@open-presence/protocol';
import { hydrate } from 'preact';

import { App, type PageComponent } from './app.tsx';
import type { PageData } from './page-data.ts';
import { repeatedAddress } from './shell.ts';
import type { Words } from './words/en.ts';

const PAGES = import.meta.glob<PageComponent>('./pages/*.tsx', { import: 'Page' });

const WORDS: Readonly<Record<Locale, () => Promise<Words>>> = {
  en: async () => (await import('./words/en.ts')).en,
  uk: async () => (await import('./words/uk.ts')).uk,
};

async function takeOver(): Promise<void> {
  const json = document.getElementById('page-data')?.textContent;
  const root = document.getElementById('page');
  if (json === undefined || root === null) return;
  const sent = JSON.parse(json) as PageData;
  const { pathname, searchParams } = new URL(location.href);
  const data = { ...sent, shell: { ...sent.shell, ...repeatedAddress(pathname, searchParams) } };
  const [page, words] = await Promise.all([
    PAGES[`./pages/${data.page}.tsx`]?.(),
    WORDS[data.shell.locale](),
  ]);
  if (page === undefined) return;
  hydrate(<App data={data} page={page} words={words} />, root);
  performance.mark('hydrated');
}

void takeOver();
