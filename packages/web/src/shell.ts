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

export function useFrame(): Frame {
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

/** The slug of a room in which something can be said: an entry may be in one that there is no more. */
export function openRoom({ rooms }: Shell, room: string): string | undefined {
  return rooms.some(({ slug }) => slug === room) ? room : undefined;
}

export function pathOf({ url }: Shell): string {
  return url.replace(/\?.*/, '');
}

/** The parameters in the address of the page. */
export function queryIn(shell: Shell): URLSearchParams {
  return new URLSearchParams(shell.url.slice(pathOf(shell).length));
}

/** How much of its address a page repeats: characters of the path and the parameters, and parameters. */
const MAX_REPEATED = 32_768;
const MAX_PARAMETERS = 1000;

/**
 * The part of an address that the links and forms of a page repeat: without the language, and without what is
 * too long, since each link would be as long as the whole page.
 */
export function repeatedAddress(
  path: string,
  query: URLSearchParams,
): Pick<Shell, 'url' | 'isCut'> {
  const repeated = new URLSearchParams();
  let left = MAX_REPEATED - path.length;
  let isCut = left < 0 || query.size > MAX_PARAMETERS;
  for (const [name, value] of isCut ? [] : query) {
    if (name === 'lang') continue;
    const size = name.length + value.length;
    if (size > left) {
      isCut = true;
      continue;
    }
    repeated.append(name, value);
    left -= size;
  }
  const text = repeated.toString();
  return { url: `${left < 0 ? '/' : path}${text === '' ? '' : `?${text}`}`, isCut };
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

/** Does something in place of following a link, unless the visitor asks for a new tab or window. */
export function inPlace(event: MouseEvent, act: () => void): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  act();
}
