/** Pagination of listings (PROTOCOL.md section 8.3). A query may have very many parameters. */
import { yieldPeriodically } from '../fair-turns.ts';
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
export async function nextPagePath(page: SentPage, end: ReadEnd): Promise<string | null> {
  return await pathTo(nextCursors(page, end), page);
}

export async function pathTo(
  cursors: Cursors | null,
  { path, parameters }: Pick<SentPage, 'path' | 'parameters'>,
): Promise<string | null> {
  if (cursors === null) return null;
  let changed = parameters;
  for (const [name, cursor] of Object.entries(cursors))
    changed = await withParameter(changed, name, String(cursor));
  return await pathWithQuery(path, changed);
}

const PART_SIZE = 256;

export async function pathWithQuery(path: string, parameters: URLSearchParams): Promise<string> {
  const yieldTurn = yieldPeriodically();
  const parts: string[] = [];
  let part = new URLSearchParams();
  for (const [name, value] of parameters) {
    part.append(name, value);
    if (part.size < PART_SIZE) continue;
    parts.push(part.toString());
    part = new URLSearchParams();
    await yieldTurn();
  }
  if (part.size > 0) parts.push(part.toString());
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`;
}

/** A copy in which the parameter has this value once, in its first place; or is missing. */
export async function withParameter(
  parameters: URLSearchParams,
  name: string,
  value: string | undefined,
): Promise<URLSearchParams> {
  const yieldTurn = yieldPeriodically();
  // `set` and `delete` take quadratic time where a name is repeated.
  const changed = new URLSearchParams();
  let missing = value;
  for (const [other, otherValue] of parameters) {
    if (other !== name) changed.append(other, otherValue);
    else if (missing !== undefined) {
      changed.append(name, missing);
      missing = undefined;
    }
    const turn = yieldTurn();
    if (turn !== undefined) await turn;
  }
  if (missing !== undefined) changed.append(name, missing);
  return changed;
}
