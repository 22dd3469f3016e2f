/** Loads the entries of a listing around those that are shown. */
import type { Chunk, Edge, ListSource, Side } from '../list/windowed-list.tsx';
import type { EntryList, PageEntry } from './entry-data.ts';
import { fetchBatch } from './live-entries.ts';

/** The first and last seq of some consecutive entries of a listing. */
export interface EntryRange {
  readonly first: number;
  readonly last: number;
}

export type Entries = readonly PageEntry[];
export type EntryChunk = Chunk<EntryRange, Entries>;

export const CHUNK_SIZE = 40;

export function chunkOf(entries: Entries): EntryChunk | undefined {
  const [first] = entries;
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return { place: { first: first.seq, last: last.seq }, content: entries };
}

export class EntrySource implements ListSource<EntryRange, Entries> {
  readonly #list: Pick<EntryList, 'query' | 'order' | 'head'>;
  /** The newest seq that is known to be in the listing. */
  newest = 0;

  constructor(list: Pick<EntryList, 'query' | 'order' | 'head'>) {
    this.#list = list;
  }

  /** The seq at the end where no new entries are added, so that the key of a chunk stays. */
  keyOf({ first, last }: EntryRange): number {
    return this.#list.order === 'newest' ? last : first;
  }

  async loadEdge(side: Side, range: EntryRange | undefined): Promise<Edge<EntryRange, Entries>> {
    const isBefore = side === 'before';
    const order = isBefore === (this.#list.order === 'newest') ? 'oldest' : 'newest';
    const seq = isBefore ? range?.first : range?.last;
    const from = seq ?? (order === 'oldest' ? this.#list.head : this.#list.head + 1);
    const batch = await this.#fetch(order, order === 'oldest' ? { after: from } : { before: from });
    const chunk = chunkOf(isBefore ? batch.entries.toReversed() : batch.entries);
    const isBehind = order === 'oldest' && (batch.entries.at(-1)?.seq ?? from) < this.newest;
    return { ...(chunk && { chunk }), more: batch.next !== null || isBehind };
  }

  async loadNewest(): Promise<Edge<EntryRange, Entries>> {
    const { entries, next } = await this.#fetch('newest', {});
    const chunk = chunkOf(this.#list.order === 'newest' ? entries : entries.toReversed());
    return { ...(chunk && { chunk }), more: next !== null };
  }

  async #fetch(
    order: EntryList['order'],
    cursors: Readonly<Record<string, number>>,
  ): ReturnType<typeof fetchBatch> {
    const parameters = new URLSearchParams(this.#list.query);
    parameters.set('order', order);
    parameters.set('limit', String(CHUNK_SIZE));
    for (const [name, cursor] of Object.entries(cursors)) parameters.set(name, String(cursor));
    return await fetchBatch(parameters.toString());
  }
}
