/** A page within its layout: the header with the gateway's status, and the footer. */
import type { ComponentChildren, ComponentType, RenderableProps, VNode } from 'preact';

import { Count } from './news.tsx';
import type { PageData } from './page-data.ts';
import { FrameContext, href, hrefIn, pathOf, useShell, useWords } from './shell.ts';
import type { Words } from './words/en.ts';

export type PageComponent = ComponentType<{ readonly data: PageData }>;

interface AppProps {
  readonly data: PageData;
  readonly page: PageComponent;
  readonly words: Words;
}

export function App({ data, page: Page, words }: AppProps): VNode {
  return (
    <FrameContext.Provider value={{ shell: data.shell, words }}>
      <Layout live={liveQueryOf(data)}>
        <Page data={data} />
      </Layout>
    </FrameContext.Provider>
  );
}

interface LayoutProps {
  readonly live: string | undefined;
  readonly children: ComponentChildren;
}

function Layout({ live, children }: LayoutProps): VNode {
  const { status, states, head, log, cases } = useShell();
  const { layout } = useWords();
  return (
    <>
      <a class="skip" href="#content">
        {layout.skip}
      </a>
      <Header />
      <main id="content" data-live={live} data-head={head} data-log={log} data-cases={cases}>
        {status === 'holding' && <p class="quiet">{states.holding.meaning}</p>}
        {children}
      </main>
      <Footer />
    </>
  );
}

function Header(): VNode {
  const shell = useShell();
  const { layout, search, inbox } = useWords();
  return (
    <header class="header row">
      <a class="place" href={href(shell, '/')}>
        <PlaceMark />
        <span class="place-name">{shell.service}</span>
        <Count of="total" />
      </a>
      <nav class="navigation row" aria-label={layout.navigation}>
        <NavigationLink path="/garden">{layout.garden}</NavigationLink>
        <NavigationLink path="/search">{search.title}</NavigationLink>
        <NavigationLink path="/inbox">
          {inbox.title}
          <Count of="inbox" />
        </NavigationLink>
      </nav>
      <div class="header-end row">
        <StatusSign />
        <LanguageSwitch />
      </div>
    </header>
  );
}

/** The icon, in the colours of the page. */
function PlaceMark(): VNode {
  return (
    <svg class="place-mark" viewBox="12 10 40 46" aria-hidden="true">
      <path d="M16 54V31a16 16 0 0 1 32 0v23" />
      <path
        class="place-mark-plant"
        d="M32 54V36m0 5c-8 0-10-5-10-9 7 0 10 3 10 9Zm0-5c0-6 3-9 10-9 0 5-3 9-10 9Z"
      />
    </svg>
  );
}

function NavigationLink({ path, children }: RenderableProps<{ path: string }>): VNode {
  const shell = useShell();
  const current = pathOf(shell) === path ? { 'aria-current': 'page' as const } : {};
  return (
    <a href={href(shell, path)} {...current}>
      {children}
    </a>
  );
}

function LanguageSwitch(): VNode {
  const { locale, url } = useShell();
  const { layout } = useWords();
  const other = locale === 'uk' ? 'en' : 'uk';
  return (
    <a href={hrefIn(other, url)} hreflang={other} lang={other} title={layout.otherLanguageName}>
      {layout.otherLanguage}
    </a>
  );
}

function Footer(): VNode {
  const shell = useShell();
  const words = useWords();
  const { layout } = words;
  return (
    <footer class="footer row">
      <a href={href(shell, '/speak')}>{layout.speak}</a>
      <a href="/feed.atom">Atom</a>
      <ShareLink />
      {shell.contact === undefined ? null : <a href={shell.contact}>{layout.contact}</a>}
      {shell.ownTexts?.map((text) => (
        <a key={text} href={href(shell, `/${text}`)} rel={RELATIONS[text]}>
          {words[text].title}
        </a>
      ))}
    </footer>
  );
}

/** Shares the address of the page if the device can, and copies it otherwise. */
function ShareLink(): VNode {
  const { entry: words } = useWords();
  return (
    <button
      type="button"
      class="more"
      data-share={words.share}
      data-copy={words.copyLink}
      data-copied={words.linkCopied}
      hidden
    >
      {words.copyLink}
    </button>
  );
}

/** RFC 6903. */
const RELATIONS = { privacy: 'privacy-policy', terms: 'terms-of-service' } as const;

/** The script asks again for the status while the page is visible. */
function StatusSign(): VNode {
  const { status, states } = useShell();
  const { layout } = useWords();
  const { name, meaning } = states[status];
  const unreachable = { name: layout.unreachable, meaning: layout.unreachableMeaning };
  return (
    <p
      class="status"
      data-status={status}
      role="status"
      title={meaning}
      data-states={JSON.stringify({ ...states, unreachable })}
    >
      <span class="dot" aria-hidden="true" />
      <span class="status-name">{name}</span>
    </p>
  );
}

/** Parameters of `/web/events` for the script. Undefined for a page that does not change while it is open. */
function liveQueryOf(data: PageData): string | undefined {
  if (data.page === 'house') return '';
  if (data.page === 'entry') return `thread=${data.entry.id}`;
  // What is stored from now on is later, and a stream does not take `until`.
  if (data.page === 'room')
    return /(?:^|&)until=/.test(data.list.query) ? NO_ENTRIES : data.list.query;
  if (data.page === 'visitor' || data.page === 'inbox') return data.list?.query ?? NO_ENTRIES;
  if (data.page === 'garden') return data.month === undefined ? data.query : NO_ENTRIES;
  return data.page === 'search' ? NO_ENTRIES : undefined;
}

/** A selection of no entries, for pages that only have to hear what is withheld. */
const NO_ENTRIES = 'since=9999-12-31';
