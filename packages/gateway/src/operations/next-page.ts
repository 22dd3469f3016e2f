/** Where to read on from a listing (PROTOCOL.md section 8.3). */
import type { ReadEnd, Selection, Seq } from '../log/log.ts';

/** A listing that was answered. */
export interface Answered {
  readonly path: string;
  readonly parameters: URLSearchParams;
  readonly selection: Selection;
  readonly head: Seq;
}

/** The link to what follows, or null where nothing does. */
export function nextPagePath(answered: Answered, { last, more }: ReadEnd): string | null {
  const { selection, head } = answered;
  if (selection.order === 'oldest') return linkOf(answered, 'after', last ?? selection.after);
  if (!more) return null;
  return linkOf(answered, 'before', last ?? Math.min(selection.before ?? Infinity, head + 1));
}

function linkOf({ path, parameters }: Answered, name: string, cursor: Seq | undefined): string {
  const question = new URLSearchParams(parameters);
  if (cursor !== undefined) question.set(name, String(cursor));
  const query = question.toString();
  return query === '' ? path : `${path}?${query}`;
}
