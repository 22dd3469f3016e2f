/** What every component may ask about the page around it. */
import { createContext, type Context } from 'preact';
import { useContext } from 'preact/hooks';

import type { Shell } from './page-data.ts';
import type { Words } from './words/en.ts';
import { wordsIn } from './words/words.ts';

export const ShellContext: Context<Shell | undefined> = createContext<Shell | undefined>(undefined);

export function useShell(): Shell {
  const shell = useContext(ShellContext);
  if (shell === undefined) throw new Error('A component stands outside of the layout');
  return shell;
}

export function useWords(): Words {
  return wordsIn(useShell().locale);
}

/** The address of a page from this one: keeps the language that the visitor chose. */
export function href({ locale, localeChosen }: Shell, path: string): string {
  return localeChosen ? hrefIn(locale, path) : path;
}

/** The path of the page, without its query. */
export function pathOf({ url }: Shell): string {
  return url.replace(/\?.*/, '');
}

/** The parameters in the address of the page. */
export function queryIn(shell: Shell): URLSearchParams {
  return new URLSearchParams(shell.url.slice(pathOf(shell).length));
}

/** Path and query of an address, without the language. */
export function withoutLanguage(address: URL): string {
  const { pathname, searchParams } = address;
  searchParams.delete('lang');
  return pathname + address.search;
}

export function hrefIn(locale: string, path: string): string {
  const [beforeHash = '', hash] = path.split('#', 2);
  const separator = beforeHash.includes('?') ? '&' : '?';
  return `${beforeHash}${separator}lang=${locale}${hash === undefined ? '' : `#${hash}`}`;
}
