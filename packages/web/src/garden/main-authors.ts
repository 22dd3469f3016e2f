import type { GardenEntry } from '../page-data.ts';
import { speciesOf } from './growth/species.ts';

/** Undefined for those who gave no name. */
export type Author = string | undefined;

/** One author, who may have no name. */
export interface ChosenAuthor {
  readonly name: Author;
}

const MAX_AUTHORS = 8;

/** Those with the most entries, in an order in which neighbours differ in colour as far as possible. */
export function mainAuthors(entries: Iterable<Pick<GardenEntry, 'author'>>): readonly Author[] {
  const counts = new Map<Author, number>();
  for (const { author } of entries) counts.set(author, (counts.get(author) ?? 0) + 1);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, MAX_AUTHORS).map(([name]) => ({ name, hue: speciesOf(name).hue }));
  const orders = shown.map((first) => orderFrom(first, shown));
  const [best = []] = orders.toSorted((a, b) => nearest(b) - nearest(a));
  return best.map(({ name }) => name);
}

interface Coloured {
  readonly name: Author;
  /** Of the blooms, in degrees. */
  readonly hue: number;
}

/** Each followed by the one, among those that are left, whose hue is farthest from its own. */
function orderFrom(first: Coloured, authors: readonly Coloured[]): readonly Coloured[] {
  const order = [first];
  const left = new Set(authors);
  for (let last: Coloured | undefined = first; last !== undefined;) {
    left.delete(last);
    const from: Coloured = last;
    [last] = [...left].toSorted((a, b) => distance(from, b) - distance(from, a));
    if (last !== undefined) order.push(last);
  }
  return order;
}

/** The least distance of two neighbours. */
function nearest(order: readonly Coloured[]): number {
  const pairs = order.slice(1).map((author, index) => [order[index] ?? author, author] as const);
  return Math.min(...pairs.map(([a, b]) => distance(a, b)));
}

function distance(a: Coloured, b: Coloured): number {
  const apart = Math.abs(a.hue - b.hue);
  return Math.min(apart, 360 - apart);
}
