import type { ComponentChildren, VNode } from 'preact';

import { href, hrefIn, useShell, useWords } from './shell.ts';
import { StatusSign } from './status-sign.tsx';

/** Paths of the pages that the header leads to, by their words. */
const NAVIGATION = [
  ['garden', '/garden'],
  ['search', '/search'],
  ['inbox', '/inbox'],
] as const;

export function Layout({ children }: { readonly children: ComponentChildren }): VNode {
  const { layout } = useWords();
  return (
    <>
      <a class="skip" href="#content">
        {layout.skip}
      </a>
      <Header />
      <main id="content">{children}</main>
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
        {shell.service}
      </a>
      <nav aria-label={layout.navigation}>
        {NAVIGATION.map(([word, path]) => (
          <NavigationLink key={path} path={path}>
            {layout[word]}
          </NavigationLink>
        ))}
      </nav>
      <StatusSign />
      <LanguageSwitch />
    </header>
  );
}

interface NavigationLinkProps {
  readonly path: string;
  readonly children: ComponentChildren;
}

function NavigationLink({ path, children }: NavigationLinkProps): VNode {
  const shell = useShell();
  const current = shell.url.split('?', 1)[0] === path ? { 'aria-current': 'page' as const } : {};
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
    </footer>
  );
}
