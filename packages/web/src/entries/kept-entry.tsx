/**
 * Entries of lists as the server renders them: the HTML of those that it rendered lately is kept, because rendering
 * an entry takes several times as long as reading it.
 */
import type { VNode } from 'preact';
import { jsxTemplate } from 'preact/jsx-runtime';
import { renderToString } from 'preact-render-to-string';

import type { Shell } from '../page-data.ts';
import { ShellContext, useShell, useWords, WordsContext } from '../shell.ts';
import { EntryView, type EntryViewProps } from './entry-view.tsx';

/** Of what is kept, with its keys, in UTF-16 code units. */
const CAPACITY = 4 * 1024 * 1024;

/** By everything that the HTML shows; the least recently used first. */
const kept = new Map<string, string>();
let size = 0;

/** What is new to a visitor is marked in browsers alone, so what stands above the entry changes nothing. */
export function KeptEntry(props: EntryViewProps): VNode {
  const { above: _, ...view } = props;
  const shell = useShell();
  const words = useWords();
  const key = frameKey(shell) + JSON.stringify(view);
  let html = kept.get(key);
  if (html === undefined) {
    html = renderToString(
      <ShellContext.Provider value={shell}>
        <WordsContext.Provider value={words}>
          <EntryView {...view} />
        </WordsContext.Provider>
      </ShellContext.Provider>,
    );
    size += key.length + html.length;
  } else kept.delete(key);
  kept.set(key, html);
  for (const [oldest, { length }] of kept) {
    if (size <= CAPACITY) break;
    kept.delete(oldest);
    size -= oldest.length + length;
  }
  return <>{jsxTemplate([html])}</>;
}

const frameKeys = new WeakMap<Shell, string>();

/** What an entry shows of the page around it. */
function frameKey(shell: Shell): string {
  const { locale, localeChosen, rooms, kinds } = shell;
  const key = frameKeys.get(shell) ?? JSON.stringify([locale, localeChosen, rooms, kinds]);
  frameKeys.set(shell, key);
  return key;
}
