/** Chooses the authors of the legend, and gives them hues that can be told apart. */
import type { GardenEntry } from './garden-data.ts';
import { speciesOf } from './growth/species.ts';

/** Undefined for those who gave no name. */
export type Author = string | undefined;

/** Hues of blooms, in degrees, for authors whose hue differs from that of their species. */
export type Hues = ReadonlyMap<Author, number>;

const MAX_AUTHORS = 8;
/** Hues that are nearer than this, in degrees, are hard to tell apart. */
const LEAST_DISTANCE = 30;
const HUES = Array.from({ length: 24 }, (_, index) => index * 15);

export function mainAuthors(entries: Iterable<Pick<GardenEntry, 'author'>>): readonly Author[] {
  const counts = new Map<Author, number>();
  for (const { author } of entries) counts.set(author, (counts.get(author) ?? 0) + 1);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  return sorted.slice(0, MAX_AUTHORS).map(([name]) => name);
}

/** Gives authors who are shown together hues that can be told apart, whatever their order. */
export function distinctHues(authors: readonly Author[]): Hues {
  const hues = new Map<Author, number>();
  const taken: number[] = [];
  for (const author of authors.toSorted((a = '', b = '') => (a < b ? -1 : 1))) {
    const room = (hue: number): number => Math.min(...taken.map((other) => distance(hue, other)));
    const { hue: own } = speciesOf(author);
    const [freest = own] = HUES.toSorted((a, b) => room(b) - room(a));
    const hue = room(own) < LEAST_DISTANCE ? freest : own;
    if (hue !== own) hues.set(author, hue);
    taken.push(hue);
  }
  return hues;
}

/** Orders authors so that neighbours differ in hue: takes one from each half of the hues in turn. */
export function sortedApart(authors: readonly Author[], hues: Hues): readonly Author[] {
  const sorted = authors.toSorted((a, b) => hueOf(a, hues) - hueOf(b, hues));
  const half = Math.ceil(sorted.length / 2);
  return sorted.map((_, index) => sorted[Math.floor(index / 2) + (index % 2) * half]);
}

export function hueOf(author: Author, hues: Hues): number {
  return hues.get(author) ?? speciesOf(author).hue;
}

function distance(a: number, b: number): number {
  const apart = Math.abs(a - b);
  return Math.min(apart, 360 - apart);
}
