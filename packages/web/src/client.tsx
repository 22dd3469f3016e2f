/**
 * The script of every page: takes over the page that the server has rendered, and sends what is in the
 * outbox. Loads the components of that page only.
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
import type { PageData, PageName } from './page-data.ts';
import { repeatedAddress } from './shell.ts';
import { keepSending } from './speaking/outbox/sender.ts';
import type { Words } from './words/en.ts';
import { nameTab } from './speaking/outbox/tab.ts';

const PAGES: Readonly<Record<PageName, () => Promise<{ readonly Page: unknown }>>> = {
  entry: () => import('./pages/entry.tsx'),
  error: () => import('./pages/error.tsx'),
  garden: () => import('./pages/garden.tsx'),
  house: () => import('./pages/house.tsx'),
  inbox: () => import('./pages/inbox.tsx'),
  notice: () => import('./pages/notice.tsx'),
  offline: () => import('./pages/offline.tsx'),
  room: () => import('./pages/room.tsx'),
  search: () => import('./pages/search.tsx'),
  speak: () => import('./pages/speak.tsx'),
  text: () => import('./pages/text.tsx'),
  visitor: () => import('./pages/visitor.tsx'),
  waking: () => import('./pages/waking.tsx'),
  write: () => import('./pages/write.tsx'),
};

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
  const [{ Page }, words] = await Promise.all([PAGES[data.page](), WORDS[data.shell.locale]()]);
  // Each component takes the data of its own page.
  hydrate(<App data={data} page={Page as PageComponent} words={words} />, root);
  performance.mark('hydrated');
}

const WORKER = '/web/service-worker.js';

interface Platform {
  readonly trustedTypes?: {
    createPolicy(name: string, rules: object): { createScriptURL(url: string): string };
  };
  /** Only pages in a secure context have one. */
  readonly serviceWorker?: ServiceWorkerContainer;
}

/** Names the script by the only Trusted Types policy that the content security policy allows. */
async function registerServiceWorker(): Promise<void> {
  const { trustedTypes }: Platform = self as Platform;
  const { serviceWorker }: Platform = navigator;
  const policy = trustedTypes?.createPolicy('service-worker', { createScriptURL: () => WORKER });
  await serviceWorker?.register(policy?.createScriptURL(WORKER) ?? WORKER, { scope: '/' });
}

nameTab();
void takeOver();
keepSending();
// Without the worker, browsers show an error page of their own while the gateway cannot be reached.
registerServiceWorker().catch(() => {});
