import type { GardenEntry } from '../page-data.ts';

/** Undefined for those who gave no name. */
export type Author = string | undefined;

/** One author, who may have no name. */
export interface ChosenAuthor {
  readonly name: Author;
}

const MAX_AUTHORS = 8;

/** Those with the most entries, the first with the most. */
export function mainAuthors(entries: Iterable<Pick<GardenEntry, 'author'>>): readonly Author[] {
  const counts = new Map<Author, number>();
  for (const { author } of entries) counts.set(author, (counts.get(author) ?? 0) + 1);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  return sorted.slice(0, MAX_AUTHORS).map(([author]) => author);
}
