/** The script of the garden: puts the living picture in the place of the still one, with its caption and controls. */
import { isolated } from '@open-presence/protocol';

import { fetchJson, isForNewTab, languageQuery } from '../browser/page.ts';
import { timeText } from '../browser/times.ts';
import { visibleName } from '../visible-name.ts';
import type { Box } from './canvas/painter.ts';
import type { GardenEntry } from './garden-data.ts';
import { listenTo } from './interaction.ts';
import { GardenPicture, MAX_ENTRIES } from './picture.ts';
import type { SceneGrowth } from './scene.ts';

const MAX_TEXT = 160;
/** CSS pixels between the growth and its caption. */
const DISTANCE = 10;

const live = document.querySelector<HTMLElement>('.garden-live');
const stage = live?.querySelector<HTMLElement>('.garden-stage');
const caption = live?.querySelector<HTMLElement>('.caption');
const spoken = live?.querySelector<HTMLElement>('[role="status"]');
const context = stage?.querySelector('canvas')?.getContext('2d');

if (live && stage && caption && context) void start(live, stage, caption, context);

async function start(
  live: HTMLElement,
  stage: HTMLElement,
  caption: HTMLElement,
  context: CanvasRenderingContext2D,
): Promise<void> {
  const picture: GardenPicture = new GardenPicture(stage, context, (growth, box) => {
    describe(caption, growth, box);
    const text = growth === undefined || growth !== picture.focused ? '' : spokenText(growth);
    if (spoken && spoken.textContent !== text) spoken.textContent = text;
  });
  const bring = async (after: number): Promise<void> => {
    const query = `${live.dataset['query'] ?? ''}&order=newest&limit=${MAX_ENTRIES}&after=${after}`;
    picture.add((await fetchJson(`/web/garden?${query}`)) as readonly GardenEntry[]);
  };
  document.addEventListener('freshened', () => void bring(picture.newest).catch(() => {}));
  document.addEventListener('withheld', (event) =>
    picture.withhold((event as CustomEvent<readonly string[]>).detail),
  );
  listenTo(stage, picture, ({ entry }, event) => {
    if (isForNewTab(event)) window.open(pathOf(entry), '_blank', 'noopener');
    else location.assign(pathOf(entry));
  });
  const actions = [2, 0.5, 0];
  for (const [at, control] of live.querySelectorAll('.garden-controls button').entries())
    control.addEventListener('click', () => picture.zoom(actions[at] ?? 1));
  await bring(0);
  document.querySelector('.garden-picture > .growths')?.remove();
  live.hidden = false;
}

function pathOf({ id }: GardenEntry): string {
  const query = languageQuery().toString();
  return `/entries/${id}${query === '' ? '' : `?${query}`}`;
}

/** Kind and author, as in "Trace · Lumen". */
function headOf({ kind, author }: GardenEntry): [kind: string, author: string] {
  const { kinds = '{}', unnamed = '' } = live?.dataset ?? {};
  const names = JSON.parse(kinds) as Readonly<Record<string, string>>;
  return [names[kind] ?? kind, isolated(author === undefined ? unnamed : visibleName(author))];
}

/** The caption in one sentence, for a screen reader. */
function spokenText({ entry }: SceneGrowth): string {
  const head = [...headOf(entry), timeText(entry.time)].join(', ');
  return entry.text === '' ? head : `${head}: ${startOf(entry.text)}`;
}

function describe(element: HTMLElement, growth?: SceneGrowth, box?: Box): void {
  element.hidden = growth === undefined;
  if (growth === undefined || box === undefined) return;
  const { entry } = growth;
  const texts = [headOf(entry).join(' · '), startOf(entry.text), timeText(entry.time)];
  for (const [at, line] of element.querySelectorAll('p').entries())
    line.textContent = texts[at] ?? '';
  element.querySelector('a')?.setAttribute('href', pathOf(entry));
  place(element, box);
}

function startOf(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  return `${text.slice(0, MAX_TEXT).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Places the caption above the growth, or below it if there is no space, and always within the picture. */
function place(element: HTMLElement, { x, y, width, height }: Box): void {
  const { clientWidth = 0, clientHeight = 0 } = element.parentElement ?? {};
  const left = x + width / 2 - element.offsetWidth / 2;
  const most = clientWidth - element.offsetWidth - 8;
  const above = y - element.offsetHeight - DISTANCE;
  const below = Math.min(y + height + DISTANCE, clientHeight - element.offsetHeight - 4);
  const top = Math.max(4, above >= 4 ? above : below);
  element.style.translate = `${Math.max(8, Math.min(most, left))}px ${top}px`;
}
