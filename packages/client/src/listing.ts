/**
 * Reads listings and search results of any length in flat memory: the gateway writes each element
 * on a line of its own (PROTOCOL.md sections 8.1 and 14.1).
 */
import type { Kind } from '@open-presence/protocol';

import type { Connection, Query, Signal } from './connection.ts';
import { type EntriesOf, type Entry, entryOf, parseJson } from './entry.ts';
import { type Line, readLines } from './lines.ts';
import { PresenceError } from './presence-error.ts';

type OneOrSeveral<Value> = Value | readonly Value[];

/** What selects entries by what they are, in listings, searches and streams (PROTOCOL.md section 8.2). Several filters are combined with *and*; several rooms or kinds are alternatives. */
export interface EntryFilters<K extends Kind = Kind> {
  readonly since?: string | Date | undefined;
  readonly room?: OneOrSeveral<string> | undefined;
  readonly kind?: OneOrSeveral<K> | undefined;
  readonly identity?: OneOrSeveral<string> | undefined;
  readonly identityType?: OneOrSeveral<string> | undefined;
  readonly seeking?: OneOrSeveral<string> | undefined;
  readonly to?: OneOrSeveral<string> | undefined;
  /** The id or the seq of an entry: only what answers it. */
  readonly inReplyTo?: OneOrSeveral<string | number> | undefined;
  /** The id or the seq of an entry: only the conversation that it belongs to. */
  readonly thread?: OneOrSeveral<string | number> | undefined;
  /** A name: only what is addressed to it, answers it or mentions it. */
  readonly concerns?: OneOrSeveral<string> | undefined;
}

/** Where a listing ends (PROTOCOL.md sections 8.1 and 8.3). */
export interface ListingEnd {
  /** The newest seq when the answer began. */
  readonly head: number;
  /** The name of the log that the cursors are from. */
  readonly log: string;
  /** The path to read on at, or null. */
  readonly next: string | null;
  /** With `q`: the seq up to which entries could be found. */
  readonly known?: number;
  readonly notes?: readonly string[];
}

/** The parameters of PROTOCOL.md section 8.2. */
export interface ListingFilters<K extends Kind = Kind> extends EntryFilters<K>, Signal {
  /** `newest` by default. */
  readonly order?: 'newest' | 'oldest' | undefined;
  readonly limit?: number | undefined;
  /** Cursors: only later, only earlier entries. */
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly until?: string | Date | undefined;
  /** Words that the entries contain. */
  readonly q?: string | readonly string[] | undefined;
  /** How many seconds to wait for an entry after `after`. */
  readonly wait?: number | undefined;
  /** `replies`: each entry has `root` and `replies` too (PROTOCOL.md section 9). */
  readonly with?: 'replies' | undefined;
}

/** Not those that are to come. */
export type LineFilters = Omit<ListingFilters, 'wait' | 'with'>;

/** One answer, with its entries in memory. */
export interface Page<K extends Kind = Kind> extends ListingEnd {
  readonly entries: EntriesOf<K>[];
}

export interface SearchResult {
  /** Shortened if it is larger than 64 KiB. */
  readonly entry: Entry;
  /** A few words around the match, on one line. */
  readonly snippet: string;
}

interface ListingRequest<Item> extends Signal {
  readonly path: string;
  readonly query: Query;
  readonly parse: (line: Line) => Item;
  readonly seqOf: (item: Item) => number;
  /** The filter that leads on from the last item; undefined for results that have no order by time. */
  readonly cursor: 'before' | 'after' | undefined;
}

const CURSORS = { newest: 'before', oldest: 'after' } as const;

type Order = ListingFilters['order'];

/** See `Gateway.entries`. */
export function listEntries(
  connection: Connection,
  query: Query & { readonly order?: Order },
  signal: AbortSignal | undefined,
): AsyncGenerator<Entry, ListingEnd> {
  return readListing<Entry>(connection, {
    path: '/api/entries',
    query,
    parse: entryOf,
    seqOf: ({ seq }) => seq,
    cursor: CURSORS[query.order ?? 'newest'],
    signal,
  });
}

/** See `Gateway.search`. */
export function searchEntries(
  connection: Connection,
  query: Query & { readonly order?: Order },
  signal: AbortSignal | undefined,
): AsyncGenerator<SearchResult, ListingEnd> {
  return readListing<SearchResult>(connection, {
    path: '/api/search',
    query,
    parse: ({ text }) => parseJson(text) as SearchResult,
    seqOf: ({ entry }) => entry.seq,
    cursor: query.order && CURSORS[query.order],
    signal,
  });
}

/** See `Gateway.page`. */
export async function collectPage<K extends Kind>(
  listing: AsyncGenerator<EntriesOf<K>, ListingEnd>,
): Promise<Page<K>> {
  const entries: EntriesOf<K>[] = [];
  for (;;) {
    const step = await listing.next();
    if (step.done === true) return { entries, ...step.value };
    entries.push(step.value);
  }
}

/** Throws an answer that breaks off, with the cursor to go on from. */
async function* readListing<Item>(
  connection: Connection,
  { path, query, signal, parse, seqOf, cursor }: ListingRequest<Item>,
): AsyncGenerator<Item, ListingEnd> {
  const headers = { Accept: 'application/json' };
  const response = await connection.send(path, { query, headers, signal });
  let notes: ListingEnd['notes'];
  let last: Item | undefined;
  try {
    for await (const line of readLines(connection.bytes(response, signal), connection.longest)) {
      const { text, isCut } = line;
      if (text.startsWith(']')) {
        const end = parseJson(`{${text.slice(2)}`) as ListingEnd;
        return notes === undefined ? end : { ...end, notes };
      }
      // The first line opens the list.
      if (!isCut && text.endsWith('['))
        ({ notes } = parseJson(`${text}]}`) as Pick<ListingEnd, 'notes'>);
      else yield (last = parse({ text: text.endsWith(',') ? text.slice(0, -1) : text, isCut }));
    }
    throw connection.unreachable(new Error('the answer broke off'));
  } catch (error) {
    const isBroken = error instanceof PresenceError && error.code === 'unreachable';
    if (!isBroken || last === undefined || cursor === undefined) throw error;
    const seq = seqOf(last);
    const message = `${error.message}. Go on with ${cursor}=${seq}.`;
    throw new PresenceError('unreachable', message, { cause: error, cursor: { [cursor]: seq } });
  }
}
