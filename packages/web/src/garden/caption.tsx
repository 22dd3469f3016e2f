/** The caption of the item that is pointed at or focused, for the eye and for screen readers. */
import { isolated } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { Moment } from '../moment.tsx';
import type { Shell } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';
import { Isolated, visibleName } from '../visitor-name.tsx';
import type { Words } from '../words/en.ts';
import type { Box } from './canvas/painter.ts';
import type { SceneItem } from './scene.ts';

export interface Described {
  readonly item: SceneItem;
  readonly box: Box;
}

const MAX_TEXT = 160;
/** CSS pixels between the item and its caption. */
const DISTANCE = 10;

export function Caption({ item, box }: Described): VNode {
  const shell = useShell();
  const words = useWords();
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (element.current !== null) place(element.current, box);
  });
  return (
    <div class="caption" ref={element}>
      {item.item === 'meadow' ? (
        <>
          <p class="caption-head">{meadowText(item.counts, shell, words)}</p>
          <p class="caption-time">
            <Moment timestamp={new Date(item.from).toISOString()} /> –{' '}
            <Moment timestamp={new Date(item.to).toISOString()} />
          </p>
          <p class="caption-hint">{words.garden.approach}</p>
        </>
      ) : (
        <>
          <p class="caption-head">
            {shell.kinds[item.entry.kind].name} ·{' '}
            <Isolated text={visibleName(item.entry.author ?? words.garden.unnamed)} />
          </p>
          <p class="caption-text" dir="auto">
            {startOf(item.entry.text)}
          </p>
          <p class="caption-time">
            <Moment timestamp={new Date(item.entry.time).toISOString()} />
          </p>
          <a href={href(shell, `/entries/${item.entry.id}`)} tabIndex={-1}>
            {words.garden.open}
          </a>
        </>
      )}
    </div>
  );
}

/** The caption in one sentence, for a screen reader. */
export function spokenText(item: SceneItem, shell: Shell, words: Words): string {
  if (item.item === 'meadow') {
    return `${meadowText(item.counts, shell, words)}. ${words.garden.approach}`;
  }
  const { kind, author, text, time } = item.entry;
  const moment = new Date(time).toLocaleString(shell.locale);
  const head = `${shell.kinds[kind].name}, ${isolated(visibleName(author ?? words.garden.unnamed))}, ${moment}`;
  return text === '' ? head : `${head}: ${startOf(text)}`;
}

function meadowText(
  counts: Readonly<Record<string, number>>,
  { kinds }: Shell,
  { house }: Words,
): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(kinds).flatMap(([kind, { name }]) => {
    const count = counts[kind] ?? 0;
    return count === 0 ? [] : [`${name}: ${count}`];
  });
  return `${house.entries(total)} (${parts.join(', ')})`;
}

function startOf(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  return `${text.slice(0, MAX_TEXT).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Places the caption above the item, or below it if there is no space, and always within the picture. */
function place(element: HTMLElement, { x, y, width, height }: Box): void {
  const parent = element.parentElement;
  if (parent === null) return;
  const left = x + width / 2 - element.offsetWidth / 2;
  const most = parent.clientWidth - element.offsetWidth - 8;
  const above = y - element.offsetHeight - DISTANCE;
  const top =
    above >= 4
      ? above
      : Math.min(y + height + DISTANCE, parent.clientHeight - element.offsetHeight - 4);
  element.style.setProperty(
    'translate',
    `${Math.max(8, Math.min(most, left))}px ${Math.max(4, top)}px`,
  );
}
