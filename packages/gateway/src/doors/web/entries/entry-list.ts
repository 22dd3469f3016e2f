/** A page of a listing, from the place that the address of a page names by `before` or `after`. */
import type { EntryList, PageEntry } from '@open-presence/web/page-data';

import { yieldPeriodically } from '../../../fair-turns.ts';
import { parseSearchSelection } from '../../../intake/selection.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import { pageSelection, readPage } from '../../../operations/read-page.ts';
import type { DoorContext } from '../../context.ts';
import { inContext, withAnswers } from './answers.ts';
import { pageEntryOf } from './page-entry.ts';

type ListContext = Pick<DoorContext, 'grammar' | 'log'>;

/** A page ends with the entry by which it has this size, in UTF-16 code units. */
const MAX_SIZE = 256 * 1024;
/** About what an entry takes beside its texts. */
const OVERHEAD = 256;

interface Batch {
  readonly entries: PageEntry[];
  readonly next: number | null;
}

/** Takes the parameters of a listing. Throws `invalid-parameter`, `unknown-kind` or `unknown-room`. */
async function readBatch(
  { grammar, log }: ListContext,
  parameters: URLSearchParams,
): Promise<Batch> {
  const selected = await parseSearchSelection(parameters, { ...everythingScope(), grammar, log });
  const selection = pageSelection(selected, parameters, log.head());
  const entries: PageEntry[] = [];
  const yieldTurn = yieldPeriodically();
  const end = await readPage(log.readEntries(selection), MAX_SIZE, async (entry) => {
    const shown = await pageEntryOf(entry);
    entries.push(shown);
    await yieldTurn();
    return shown.text.length + (shown.members?.length ?? 0) + OVERHEAD;
  });
  const isEnd = !end.more || selection.limit === 0;
  return { entries, next: isEnd ? null : (entries.at(-1)?.seq ?? null) };
}

type Parameters = Readonly<Record<string, string | null | undefined>>;

export interface ListRequest {
  /** What is listed: parameters without an order, a limit and a place. */
  readonly filters: URLSearchParams;
  readonly order: 'newest' | 'oldest';
  readonly address: URLSearchParams;
  readonly limit?: number;
  /** Whether each entry has its answers beneath it. */
  readonly isNested?: boolean;
}

export const PAGE_SIZE = 50;

/** Throws for values that cannot be used. */
export async function readList(app: ListContext, request: ListRequest): Promise<EntryList> {
  const { filters, order, isNested = false } = request;
  const { entries, ...place } = await readPlace(app, request);
  const shown = await (isNested ? withAnswers : inContext)(app.log, entries);
  return { query: filters.toString(), order, entries: shown, ...place };
}

/** Without scripts, too, one page leads to the next, and back. */
async function readPlace(
  app: ListContext,
  { filters, order, address, limit = PAGE_SIZE }: ListRequest,
): Promise<Batch & Pick<EntryList, 'hasEarlier'>> {
  const [onward, backward] =
    order === 'newest' ? (['before', 'after'] as const) : (['after', 'before'] as const);
  const read = (more: Parameters): Promise<Batch> =>
    readBatch(
      app,
      new URLSearchParams([...filters, ...parametersOf({ limit: String(limit), ...more })]),
    );
  const [from, back] = [address.get(onward) || null, address.get(backward)];
  if (back !== null) {
    const reversed = order === 'newest' ? 'oldest' : 'newest';
    const batch = await read({ order: reversed, [backward]: back, [onward]: from });
    const entries = batch.entries.toReversed();
    // The newest that are few are shown with those before them.
    if (batch.next !== null || from !== null)
      return { entries, next: entries.at(-1)?.seq ?? null, hasEarlier: entries.length > 0 };
  }
  const batch = await read({ order, [onward]: from });
  return { ...batch, hasEarlier: from !== null };
}

/** What the address has of these parameters. Forms send empty values, which select nothing. */
export function givenIn(address: URLSearchParams, names: ReadonlySet<string>): URLSearchParams {
  const given = [...address].filter(([name, value]) => names.has(name) && value !== '');
  return new URLSearchParams(given);
}

/** Leaves out values that are missing or empty. */
function parametersOf(values: Parameters): URLSearchParams {
  const given = Object.entries(values).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return new URLSearchParams(given);
}
