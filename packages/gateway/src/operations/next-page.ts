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
  if (cursor === undefined) return pathWithQuery(path, parameters);
  return pathWithQuery(path, withParameter(parameters, name, String(cursor)));
}

export function pathWithQuery(path: string, parameters: URLSearchParams): string {
  const query = parameters.toString();
  return query === '' ? path : `${path}?${query}`;
}

/** A copy in which the parameter has this value once, in its first place; or is missing. */
export function withParameter(
  parameters: URLSearchParams,
  name: string,
  value: string | undefined,
): URLSearchParams {
  // `set` and `delete` take quadratic time where a name is repeated.
  const changed = new URLSearchParams();
  let missing = value;
  for (const [other, otherValue] of parameters) {
    if (other !== name) changed.append(other, otherValue);
    else if (missing !== undefined) {
      changed.append(name, missing);
      missing = undefined;
    }
  }
  if (missing !== undefined) changed.append(name, missing);
  return changed;
}
