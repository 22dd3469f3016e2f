/** Pagination of listings (PROTOCOL.md section 8.3). */
import type { ReadEnd, Selection, Seq } from '../log/log.ts';

export interface SentPage {
  readonly path: string;
  readonly parameters: URLSearchParams;
  readonly selection: Selection;
  readonly head: Seq;
}

/** The parameters that lead on from a page. */
export type Cursors = Readonly<Record<string, number>>;

/** Null if there is no next page. */
export function nextCursors(
  { selection, head }: Pick<SentPage, 'selection' | 'head'>,
  { last, more }: ReadEnd,
): Cursors | null {
  // It would lead to itself.
  if (selection.limit === 0) return null;
  if (selection.order === 'oldest') {
    const after = last ?? selection.after;
    return after === undefined ? {} : { after };
  }
  return more ? { before: last ?? Math.min(selection.before ?? Infinity, head + 1) } : null;
}

/** The path and query of the next page, or null if there is none. */
export function nextPagePath(page: SentPage, end: ReadEnd): string | null {
  return pathTo(nextCursors(page, end), page);
}

export function pathTo(
  cursors: Cursors | null,
  { path, parameters }: Pick<SentPage, 'path' | 'parameters'>,
): string | null {
  if (cursors === null) return null;
  // `set` and `delete` take quadratic time where a name is repeated.
  const others = [...parameters].filter(([name]) => !Object.hasOwn(cursors, name));
  const changed = new URLSearchParams(others);
  for (const [name, cursor] of Object.entries(cursors)) changed.append(name, String(cursor));
  return pathWithQuery(path, changed);
}

export function pathWithQuery(path: string, parameters: URLSearchParams): string {
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}

export function withoutParameter(parameters: URLSearchParams, name: string): URLSearchParams {
  return new URLSearchParams([...parameters].filter(([other]) => other !== name));
}
