/**
 * Keeps the HTML of list entries that the server rendered lately: rendering an entry takes several times as
 * long as reading it.
 */
import type { VNode } from 'preact';
import { jsxTemplate } from 'preact/jsx-runtime';
import { renderToString } from 'preact-render-to-string';

import type { Shell } from '../page-data.ts';
import { FrameContext, useFrame } from '../shell.ts';
import { EntryView, type EntryViewProps } from './entry-view.tsx';

/** UTF-16 code units of all HTML and keys that are kept. */
const CAPACITY = 4 * 1024 * 1024;

/** By everything that the HTML depends on; the least recently used first. */
const kept = new Map<string, string>();
let size = 0;

/** Leaves out `above`: it only serves to mark what is new to a visitor, which browsers do by script. */
export function KeptEntry(props: EntryViewProps): VNode {
  const { above: _, ...view } = props;
  const frame = useFrame();
  const key = frameKey(frame.shell) + JSON.stringify(view);
  let html = kept.get(key);
  if (html === undefined) {
    html = renderToString(
      <FrameContext.Provider value={frame}>
        <EntryView {...view} />
      </FrameContext.Provider>,
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

function frameKey(shell: Shell): string {
  const { locale, localeChosen, rooms, kinds } = shell;
  const key = frameKeys.get(shell) ?? JSON.stringify([locale, localeChosen, rooms, kinds]);
  frameKeys.set(shell, key);
  return key;
}
