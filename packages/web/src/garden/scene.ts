/** The scene: the growths of the picture, each in its place. Pure. */
import type { GardenEntry } from './garden-data.ts';
import { type Place, placeOf } from './place.ts';

export interface SceneGrowth {
  readonly entry: GardenEntry;
  readonly place: Place;
  /** From the left edge to the right one, in parts of the width. */
  readonly across: number;
  parent?: SceneGrowth;
}

/**
 * How evenly growths stand: 1 for equal distances, 0 for distances as their times have them. A burst and the week of
 * silence after it both show.
 */
const EVEN = 0.7;
const MARGIN = 0.05;

/** By time. `withheld`: the ids of entries that are shown without their words. */
export function sceneOf(
  entries: readonly GardenEntry[],
  withheld: ReadonlySet<string> = new Set(),
): SceneGrowth[] {
  const sorted = entries.toSorted((a, b) => a.time - b.time || a.seq - b.seq);
  const [first = 0, last = 0] = [sorted[0]?.time, sorted.at(-1)?.time];
  const growths = sorted.map((entry, at): SceneGrowth => {
    const rank = (at + 0.5) / sorted.length;
    const passed = last === first ? rank : (entry.time - first) / (last - first);
    const across = MARGIN + (1 - 2 * MARGIN) * (EVEN * rank + (1 - EVEN) * passed);
    return { entry: withoutWords(entry, withheld), across, place: placeOf(entry) };
  });
  const byId = new Map(growths.map((growth) => [growth.entry.id, growth]));
  for (const growth of growths) {
    const parent = byId.get(growth.entry.inReplyTo ?? '');
    if (parent !== undefined && parent !== growth) growth.parent = parent;
  }
  return growths;
}

function withoutWords(entry: GardenEntry, withheld: ReadonlySet<string>): GardenEntry {
  return withheld.has(entry.id) ? { ...entry, text: '', author: undefined } : entry;
}

const DAY_MS = 86_400_000;

/** The times that are written below the picture: where the day of the growths changes, or the minute, or the month. */
export function ticksOf(
  growths: readonly SceneGrowth[],
  locale: string,
): { readonly across: number; readonly label: string }[] {
  const [first = 0, last = 0] = [growths[0]?.entry.time, growths.at(-1)?.entry.time];
  const days = (last - first) / DAY_MS;
  const format = new Intl.DateTimeFormat(
    locale,
    days < 2
      ? { hour: '2-digit', minute: '2-digit' }
      : days < 300
        ? { day: 'numeric', month: 'short' }
        : { month: 'short', year: 'numeric' },
  );
  let before = '';
  return growths.flatMap(({ across, entry }) => {
    const label = format.format(entry.time);
    if (label === before) return [];
    before = label;
    return [{ across, label }];
  });
}
