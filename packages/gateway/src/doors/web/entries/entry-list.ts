/** The listing of a page, from the place that its address names by `before` or `after`. */
import type { EntryBatch, EntryList } from '@open-presence/web/page-data';

import type { DoorContext } from '../../context.ts';
import { readBatch } from './entry-batch.ts';

type ListContext = Pick<DoorContext, 'grammar' | 'log'>;
type Parameters = Readonly<Record<string, string | undefined>>;

export interface ListRequest {
  /** What is listed; values that are missing or empty select nothing. */
  readonly filters: Parameters;
  readonly order: 'newest' | 'oldest';
  readonly address: URLSearchParams;
}

/** Entries of a page without scripts, and of one that its script continues. */
const PAGE_SIZE = '40';

/** Throws for values that cannot be used. */
export async function readList(
  app: ListContext,
  { filters, order, address }: ListRequest,
): Promise<EntryList> {
  const [onward, backward] =
    order === 'newest' ? (['before', 'after'] as const) : (['after', 'before'] as const);
  const read = (more: Parameters): Promise<EntryBatch> =>
    readBatch(app, parametersOf({ limit: PAGE_SIZE, ...filters, ...more }));
  const query = parametersOf(filters).toString();
  const back = address.get(backward);
  if (back !== null) {
    const reversed = order === 'newest' ? 'oldest' : 'newest';
    const batch = await read({ order: reversed, [backward]: back });
    const entries = batch.entries.toReversed();
    const last = entries.at(-1);
    if (batch.next !== null && last !== undefined) {
      const rest = await read({ order, [onward]: String(last.seq), limit: '1' });
      const next = rest.entries.length === 0 ? null : last.seq;
      return { query, order, entries, head: batch.head, next, hasEarlier: true };
    }
  }
  const from = back === null ? address.get(onward) : null;
  const batch = await read({ order, ...(from === null ? {} : { [onward]: from }) });
  const hasEarlier = from !== null && (await hasEntriesBefore(read, batch, order, from));
  return { query, order, ...batch, hasEarlier };
}

async function hasEntriesBefore(
  read: (more: Parameters) => Promise<EntryBatch>,
  { entries: [first] }: EntryBatch,
  order: 'newest' | 'oldest',
  from: string,
): Promise<boolean> {
  const edge = first === undefined ? Number(from) : first.seq;
  const earlier =
    order === 'newest'
      ? { order: 'oldest', after: String(first === undefined ? edge - 1 : edge) }
      : { order: 'newest', before: String(first === undefined ? edge + 1 : edge) };
  return (await read({ ...earlier, limit: '1' })).entries.length > 0;
}

function parametersOf(values: Parameters): URLSearchParams {
  const found = Object.entries(values).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  );
  return new URLSearchParams(found);
}
