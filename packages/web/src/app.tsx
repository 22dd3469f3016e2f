/**
 * A page within its layout: the header with the gateway's status, and the footer. The server renders it, and
 * the browser takes it over.
 */
import { type State, STATES } from '@open-presence/protocol';
import type { ComponentChildren, ComponentType, RenderableProps, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Count, useNews, WithNews } from './news.tsx';
import type { PageData } from './page-data.ts';
import { FrameContext, href, hrefIn, pathOf, useShell, useWords } from './shell.ts';
import type { Words } from './words/en.ts';
import { ShareLink } from './share-link.tsx';
import { Isolated } from './visitor-name.tsx';

export type PageComponent = ComponentType<{ readonly data: PageData }>;

interface AppProps {
  readonly data: PageData;
  readonly page: PageComponent;
  readonly words: Words;
}

export function App({ data, page: Page, words }: AppProps): VNode {
  return (
    <FrameContext.Provider value={{ shell: data.shell, words }}>
      <WithNews>
        <Layout>
          <Page data={data} />
        </Layout>
      </WithNews>
    </FrameContext.Provider>
  );
}

function Layout({ children }: { readonly children: ComponentChildren }): VNode {
  const { isCut, states, unused = [] } = useShell();
  const { layout } = useWords();
  const status = useStatus();
  return (
    <>
      <a class="skip" href="#content">
        {layout.skip}
      </a>
      <Header status={status} />
      <main id="content">
        {status === 'holding' && <p class="quiet">{states.holding.meaning}</p>}
        {isCut && <p class="quiet">{layout.longAddress}</p>}
        {unused.length > 0 && (
          <p class="quiet">
            {layout.unused} <Isolated text={unused.join(' ')} />
          </p>
        )}
        {children}
      </main>
      <Footer />
    </>
  );
}

interface StatusProps {
  /** Undefined while the gateway does not answer. */
  readonly status: State | undefined;
}

function Header({ status }: StatusProps): VNode {
  const shell = useShell();
  const { layout, search, inbox } = useWords();
  const news = useNews();
  return (
    <header class="header row">
      <a class="place" href={href(shell, '/')}>
        <PlaceMark />
        <span class="place-name">{shell.service}</span>
        <Count of={news?.total ?? 0} />
      </a>
      <nav class="navigation row" aria-label={layout.navigation}>
        <NavigationLink path="/garden">{layout.garden}</NavigationLink>
        <NavigationLink path="/search">{search.title}</NavigationLink>
        <NavigationLink path="/inbox">
          {inbox.title}
          <Count of={news?.inbox ?? 0} />
        </NavigationLink>
      </nav>
      <div class="header-end row">
        <StatusSign status={status} />
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

function LanguageSwitch(): VNode | null {
  const { locale, url, isCut } = useShell();
  const { layout } = useWords();
  const other = locale === 'uk' ? 'en' : 'uk';
  return isCut ? null : (
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

/** RFC 6903. */
const RELATIONS = { privacy: 'privacy-policy', terms: 'terms-of-service' } as const;

const INTERVAL_MS = 20_000;

/** The gateway's status. Asks for it again while the page is visible. */
function useStatus(): StatusProps['status'] {
  const { status: atFirst } = useShell();
  const [status, setStatus] = useState<State | undefined>(atFirst);
  // Never stops asking: the layout stays as long as the page.
  useEffect(() => {
    const update = async (): Promise<void> => {
      if (document.visibilityState === 'visible') setStatus(await fetchStatus());
    };
    const onChange = (): void => void update();
    setInterval(onChange, INTERVAL_MS);
    for (const change of ['online', 'offline', 'visibilitychange']) {
      addEventListener(change, onChange);
    }
  }, []);
  return status;
}

function StatusSign({ status }: StatusProps): VNode {
  const { states } = useShell();
  const { layout } = useWords();
  const { name, meaning } =
    status === undefined
      ? { name: layout.unreachable, meaning: layout.unreachableMeaning }
      : states[status];
  return (
    <p class="status" data-status={status ?? 'unreachable'} role="status" title={meaning}>
      <span class="dot" aria-hidden="true" />
      <span class="status-name">{name}</span>
    </p>
  );
}

async function fetchStatus(): Promise<State | undefined> {
  try {
    const answer = await fetch('/readyz');
    const { status } = (await answer.json()) as { status: unknown };
    return STATES.find((state) => state === status);
  } catch {
    return undefined;
  }
}
