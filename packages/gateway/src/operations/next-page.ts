/** Pagination of listings (PROTOCOL.md section 8.3). A query may have very many parameters. */
import { yieldPeriodically } from '../fair-turns.ts';
import type { ReadEnd, Selection, Seq } from '../log/log.ts';

export interface SentPage {
  readonly path: string;
  readonly parameters: URLSearchParams;
  readonly selection: Selection;
  readonly head: Seq;
}

/** The path and query of the next page, or null if there is none. */
export async function nextPagePath(
  page: SentPage,
  { last, more }: ReadEnd,
): Promise<string | null> {
  const { selection, head } = page;
  // It would lead to itself.
  if (selection.limit === 0) return null;
  if (selection.order === 'oldest') return await pathFrom(page, 'after', last ?? selection.after);
  if (!more) return null;
  return await pathFrom(page, 'before', last ?? Math.min(selection.before ?? Infinity, head + 1));
}

async function pathFrom(
  { path, parameters }: SentPage,
  name: string,
  cursor: Seq | undefined,
): Promise<string> {
  if (cursor === undefined) return await pathWithQuery(path, parameters);
  return await pathWithQuery(path, await withParameter(parameters, name, String(cursor)));
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
