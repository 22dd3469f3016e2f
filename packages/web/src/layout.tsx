import type { ComponentChildren, VNode } from 'preact';

import { href, hrefIn, pathOf, useShell, useWords } from './shell.ts';
import { OutboxList } from './speaking/outbox/outbox-list.tsx';
import { StatusSign } from './status-sign.tsx';

/** Paths of the pages that the header leads to, by their words. */
const NAVIGATION = [
  ['garden', '/garden'],
  ['search', '/search'],
  ['inbox', '/inbox'],
] as const;

interface LayoutProps {
  /** Whether the outbox stands beside the forms of the page. */
  readonly hasForms: boolean;
  readonly children: ComponentChildren;
}

export function Layout({ hasForms, children }: LayoutProps): VNode {
  const { isCut } = useShell();
  const { layout } = useWords();
  return (
    <>
      <a class="skip" href="#content">
        {layout.skip}
      </a>
      <Header />
      {!hasForms && <OutboxList />}
      <main id="content">
        {isCut && <p class="quiet">{layout.longAddress}</p>}
        {children}
      </main>
      <Footer />
    </>
  );
}

function Header(): VNode {
  const shell = useShell();
  const { layout } = useWords();
  return (
    <header class="header">
      <a class="place" href={href(shell, '/')}>
        <PlaceMark />
        <span class="place-name">{shell.service}</span>
      </a>
      <nav class="navigation" aria-label={layout.navigation}>
        {NAVIGATION.map(([word, path]) => (
          <NavigationLink key={path} path={path}>
            {layout[word]}
          </NavigationLink>
        ))}
      </nav>
      <div class="header-end">
        <StatusSign />
        <LanguageSwitch />
      </div>
    </header>
  );
}

/** The icon, in the colors of the page. */
function PlaceMark(): VNode {
  return (
    <svg class="place-mark" viewBox="12 10 40 46" aria-hidden="true">
      <path class="place-mark-arch" d="M16 54V31a16 16 0 0 1 32 0v23" />
      <path
        class="place-mark-plant"
        d="M32 54V36m0 5c-8 0-10-5-10-9 7 0 10 3 10 9Zm0-5c0-6 3-9 10-9 0 5-3 9-10 9Z"
      />
    </svg>
  );
}

interface NavigationLinkProps {
  readonly path: string;
  readonly children: ComponentChildren;
}

function NavigationLink({ path, children }: NavigationLinkProps): VNode {
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
    <a class="language" href={hrefIn(other, url)} hreflang={other} lang={other}>
      {layout.otherLanguage}
    </a>
  );
}

function Footer(): VNode {
  const shell = useShell();
  const { layout } = useWords();
  return (
    <footer class="footer">
      <a href={href(shell, '/speak')}>{layout.speak}</a>
      <a href="/feed.atom">Atom</a>
      {shell.contact === undefined ? null : <a href={shell.contact}>{layout.contact}</a>}
    </footer>
  );
}
