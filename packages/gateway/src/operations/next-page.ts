/** Pagination of listings (PROTOCOL.md section 8.3). */
import type { ReadEnd, Selection, Seq } from '../log/log.ts';

/** A page that was sent. */
export interface SentPage {
  readonly path: string;
  readonly parameters: URLSearchParams;
  readonly selection: Selection;
  readonly head: Seq;
}

/** The path and query of the next page, or null if there is none. */
export function nextPagePath(page: SentPage, { last, more }: ReadEnd): string | null {
  const { selection, head } = page;
  // It would lead to itself.
  if (selection.limit === 0) return null;
  if (selection.order === 'oldest') return pathFrom(page, 'after', last ?? selection.after);
  if (!more) return null;
  return pathFrom(page, 'before', last ?? Math.min(selection.before ?? Infinity, head + 1));
}

function pathFrom({ path, parameters }: SentPage, name: string, cursor: Seq | undefined): string {
  const next = new URLSearchParams(parameters);
  if (cursor !== undefined) next.set(name, String(cursor));
  return pathWithQuery(path, next);
}

export function pathWithQuery(path: string, parameters: URLSearchParams): string {
  const query = parameters.toString();
  return query === '' ? path : `${path}?${query}`;
}
