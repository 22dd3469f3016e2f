/**
 * Some of the entries of a listing, as pages show them; and the listing of a page, from the place that its address
 * names by `before` or `after`.
 */
import type { EntryBatch, EntryList, PageEntry } from '@open-presence/web/page-data';

import { yieldPeriodically } from '../../../fair-turns.ts';
import { parseSearchSelection } from '../../../intake/selection.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import { pageSelection, readPage } from '../../../operations/read-page.ts';
import type { DoorContext } from '../../context.ts';
import { inContext, withAnswers } from './answers.ts';
import { pageEntryOf } from './page-entry.ts';

type ListContext = Pick<DoorContext, 'grammar' | 'log'>;

/** A batch ends with the entry by which it has this size, in UTF-16 code units. */
const MAX_SIZE = 256 * 1024;
/** About what an entry takes beside its texts. */
const OVERHEAD = 256;

/**
 * Takes the parameters of a listing, and `answers` for entries with their answers. Leaves out entries later than
 * `last`. Throws `invalid-parameter`, `unknown-kind` or `unknown-room`.
 */
export async function readBatch(
  { grammar, log }: ListContext,
  parameters: URLSearchParams,
  last: number = log.head(),
): Promise<EntryBatch> {
  const selected = await parseSearchSelection(parameters, { ...everythingScope(), grammar, log });
  const selection = pageSelection(selected, parameters, last);
  const entries: PageEntry[] = [];
  const yieldTurn = yieldPeriodically();
  const end = await readPage(log.readEntries(selection), MAX_SIZE, async (entry) => {
    const shown = await pageEntryOf(entry);
    entries.push(shown);
    await yieldTurn();
    return shown.text.length + (shown.members?.length ?? 0) + OVERHEAD;
  });
  const shown = parameters.has('answers')
    ? await withAnswers(log, entries)
    : await inContext(log, entries);
  const isEnd = !end.more || selection.limit === 0;
  return { entries: shown, head: last, next: isEnd ? null : (entries.at(-1)?.seq ?? null) };
}

type Parameters = Readonly<Record<string, string | null | undefined>>;

export interface ListRequest {
  /** What is listed: parameters without an order, a limit and a place. */
  readonly filters: URLSearchParams;
  readonly order: 'newest' | 'oldest';
  readonly address: URLSearchParams;
  readonly limit?: number;
}

/** Entries of a page without scripts, and of one that its script continues. */
export const PAGE_SIZE = 40;

/** Throws for values that cannot be used. */
export async function readList(
  app: ListContext,
  { filters, order, address, limit = PAGE_SIZE }: ListRequest,
): Promise<EntryList> {
  const [onward, backward] =
    order === 'newest' ? (['before', 'after'] as const) : (['after', 'before'] as const);
  const read = (more: Parameters): Promise<EntryBatch> =>
    readBatch(
      app,
      new URLSearchParams([...filters, ...parametersOf({ limit: String(limit), ...more })]),
    );
  const query = filters.toString();
  const [from, back] = [address.get(onward), address.get(backward)];
  if (back !== null) {
    const reversed = order === 'newest' ? 'oldest' : 'newest';
    const batch = await read({ order: reversed, [backward]: back, [onward]: from });
    const entries = batch.entries.toReversed();
    const last = entries.at(-1);
    if (last === undefined && from) return { query, order, ...batch, hasEarlier: false };
    if ((batch.next !== null || from) && last !== undefined) {
      const rest = await read({ order, [onward]: String(last.seq), limit: '1' });
      const next = rest.entries.length === 0 ? null : last.seq;
      return { query, order, entries, head: batch.head, next, hasEarlier: true };
    }
  }
  const batch = await read({ order, ...(from === null ? {} : { [onward]: from }) });
  const hasEarlier = from !== null && (await hasEntriesBefore(read, batch, order, from));
  return { query, order, ...batch, hasEarlier };
}

async function hasEntriesBefore(
  read: (more: Parameters) => Promise<EntryBatch>,
  { entries: [first], head }: EntryBatch,
  order: 'newest' | 'oldest',
  from: string,
): Promise<boolean> {
  const earlier =
    order === 'newest'
      ? {
          order: 'oldest',
          after: String(first?.seq ?? Math.max(Math.min(Number(from) - 1, head), 0)),
        }
      : { order: 'newest', before: String(first?.seq ?? Number(from) + 1) };
  return (await read({ ...earlier, limit: '1' })).entries.length > 0;
}

/**
 * What the address has of these parameters. Forms send empty values, which select nothing. Takes turns with other
 * work, because there may be a hundred thousand.
 */
export async function givenIn(
  address: URLSearchParams,
  names: ReadonlySet<string>,
): Promise<URLSearchParams> {
  const given = new URLSearchParams();
  const yieldTurn = yieldPeriodically();
  for (const [name, value] of address) {
    if (names.has(name) && value !== '') given.append(name, value);
    const turn = yieldTurn();
    if (turn !== undefined) await turn;
  }
  return given;
}

/** Leaves out values that are missing or empty. */
function parametersOf(values: Parameters): URLSearchParams {
  const given = Object.entries(values).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return new URLSearchParams(given);
}
