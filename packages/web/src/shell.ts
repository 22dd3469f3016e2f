/** Gives every component the shell and the words of its page, and makes the addresses of other pages. */
import { createContext, type Context } from 'preact';
import { useContext } from 'preact/hooks';

import type { Shell } from './page-data.ts';
import type { Words } from './words/en.ts';

interface Frame {
  readonly shell: Shell;
  readonly words: Words;
}

export const FrameContext: Context<Frame | undefined> = createContext<Frame | undefined>(undefined);

function useFrame(): Frame {
  const frame = useContext(FrameContext);
  if (frame === undefined) throw new Error('A component stands outside of the layout');
  return frame;
}

export function useShell(): Shell {
  return useFrame().shell;
}

export function useWords(): Words {
  return useFrame().words;
}

/** The address of another page. Keeps the language that the visitor chose. */
export function href({ locale, localeChosen }: Shell, path: string): string {
  return localeChosen ? hrefIn(locale, path) : path;
}

export function pathOf({ url }: Shell): string {
  return url.replace(/\?.*/, '');
}

/** The parameters in the address of the page. */
export function queryIn(shell: Shell): URLSearchParams {
  return new URLSearchParams(shell.url.slice(pathOf(shell).length));
}

export function hrefIn(locale: string, path: string): string {
  const [beforeHash = '', hash] = path.split('#', 2);
  const separator = beforeHash.includes('?') ? '&' : '?';
  return `${beforeHash}${separator}lang=${locale}${hash === undefined ? '' : `#${hash}`}`;
}

/** An address with these parameters set. Takes away undefined ones and those in `removed`. */
export function addressWith(
  url: string,
  parameters: Readonly<Record<string, string | undefined>>,
  removed: readonly string[] = [],
): string {
  const [path = '', query = ''] = url.split('?', 2);
  const changed = new URLSearchParams(query);
  for (const name of removed) changed.delete(name);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) changed.delete(name);
    else changed.set(name, value);
  }
  const text = changed.toString();
  return text === '' ? path : `${path}?${text}`;
}
