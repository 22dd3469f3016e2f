/**
 * Reads listings and search results of any length in flat memory: the gateway writes each element
 * on a line of its own (PROTOCOL.md sections 8.1 and 14.1). An answer that breaks off is read on
 * after its last element.
 */
import type { Kind } from '@open-presence/protocol';

import type { Connection, Query, Signal } from './connection.ts';
import type { EntryFilters } from './entry-filters.ts';
import {
  type EntriesOf,
  type Entry,
  parseEntry,
  parseExactly,
  shortenedEntry,
  withNumericSeq,
} from './entry.ts';
import { type Line, readLines } from './lines.ts';
import { PresenceError } from './presence-error.ts';

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

/** How entries are parsed. */
export interface ParseOptions {
  /** In bytes. A longer entry is given with the gateway's members only. */
  readonly longest: number;
  /** Whether the visitors' numbers are given as they were spelled. */
  readonly exactNumbers: boolean;
}

export interface ReadOptions extends ParseOptions, Signal {
  readonly query: Query;
}

interface ListingRequest<Item> extends ReadOptions {
  readonly path: string;
  readonly parse: (line: Line) => Item;
  /** The query for what follows the last item. `count`: how many items were read. */
  readonly resume: (query: Query, last: Item, count: number) => Query;
  /** Of an item, if the newest come first. */
  readonly seqOfNewest: (first: Item) => number | undefined;
}

/** In bytes: the entry of a result has at most 64 KiB, which other spellings may lengthen. */
const LONGEST_RESULT = 1024 * 1024;

/** How many items are asked for after the first failure. */
const FIRST_PAGE = 256;

/** See `Gateway.entries`. */
export function listEntries(
  connection: Connection,
  options: ReadOptions,
): AsyncGenerator<Entry, ListingEnd> {
  return readListing<Entry>(connection, {
    ...options,
    path: '/api/entries',
    parse: (line) => entryOf(line, options),
    resume: (query, { seq }) => ({
      ...query,
      [query['order'] === 'oldest' ? 'after' : 'before']: seq,
    }),
    seqOfNewest: ({ seq }) => (options.query['order'] === 'oldest' ? undefined : seq),
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

/** See `Gateway.search`. */
export function searchEntries(
  connection: Connection,
  options: ReadOptions,
): AsyncGenerator<SearchResult, ListingEnd> {
  let skipped = 0;
  return readListing<SearchResult>(connection, {
    ...options,
    path: '/api/search',
    longest: LONGEST_RESULT,
    parse: (line) => resultOf(line, options),
    resume: (query, { entry }, count) => {
      if (query['order'] === 'oldest') return { ...query, after: entry.seq };
      if (query['order'] === 'newest') return { ...query, before: entry.seq };
      return { ...query, skip: (skipped += count) };
    },
    seqOfNewest: ({ entry }) => (options.query['order'] === 'newest' ? entry.seq : undefined),
  });
}

/**
 * Throws at once if the first request is not answered. After a later failure, the rest is requested in pages,
 * which become smaller with each failure and larger with each success: so there is progress over
 * connections that never live as long as the whole answer takes.
 */
async function* readListing<Item>(
  connection: Connection,
  request: ListingRequest<Item>,
): AsyncGenerator<Item, ListingEnd> {
  const { signal, resume, seqOfNewest } = request;
  const backoff = connection.backoff(signal);
  let { query } = request;
  let page = Number.POSITIVE_INFINITY;
  /** Whoever goes on after the end of the listing needs what came while it was read in several answers. */
  let newest: number | undefined;
  let earliestHead = Number.POSITIVE_INFINITY;
  for (let hasStarted = false; ;) {
    const left = limitOf(query);
    let last: Item | undefined;
    let count = 0;
    try {
      const response = await connection.send(request.path, {
        query: withLimit(query, page),
        headers: { Accept: 'application/json' },
        signal,
      });
      hasStarted = true;
      const items = answerItems(connection.bytes(response, signal), request, connection);
      for (let step = await items.next(); ; step = await items.next()) {
        if (step.done === true) {
          if (count < page || count === left) return endBefore(step.value, earliestHead);
          page *= 2;
          break;
        }
        backoff.reset();
        last = step.value;
        count += 1;
        newest ??= seqOfNewest(last);
        yield step.value;
      }
    } catch (error) {
      if (!hasStarted) throw error;
      await backoff.pause(error);
      earliestHead = newest ?? earliestHead;
      page = Math.min(FIRST_PAGE, Math.max(1, Math.floor(page / 2)));
    }
    if (last !== undefined) query = { ...resume(query, last, count), ...limitedTo(left - count) };
  }
}

function endBefore(end: ListingEnd, earliest: number): ListingEnd {
  const { head, known } = end;
  const bounded = { ...end, head: Math.min(head, earliest) };
  return known === undefined ? bounded : { ...bounded, known: Math.min(known, earliest) };
}

function limitOf({ limit }: Query): number {
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY;
}

function limitedTo(limit: number): Query {
  return Number.isFinite(limit) ? { limit } : {};
}

function withLimit(query: Query, limit: number): Query {
  return { ...query, ...limitedTo(Math.min(limit, limitOf(query))) };
}

async function* answerItems<Item>(
  bytes: AsyncIterable<Uint8Array>,
  { longest, parse }: ListingRequest<Item>,
  connection: Connection,
): AsyncGenerator<Item, ListingEnd> {
  let notes: ListingEnd['notes'];
  for await (const line of readLines(bytes, longest)) {
    if (line.text.startsWith(']')) return parseEnd(line.text, notes);
    // The first line opens the list.
    if (line.isCut || !line.text.endsWith('[')) yield parse(withoutComma(line));
    else ({ notes } = parseJson(`${line.text}]}`) as Pick<ListingEnd, 'notes'>);
  }
  throw connection.unreachable(new Error('the answer broke off'));
}

function withoutComma({ text, isCut }: Line): Line {
  return { text: text.endsWith(',') ? text.slice(0, -1) : text, isCut };
}

function parseEnd(line: string, notes: ListingEnd['notes']): ListingEnd {
  const { head, log, next, known } = parseJson(`{${line.slice(2)}`) as ListingEnd;
  return {
    head,
    log,
    next,
    ...(known === undefined ? {} : { known }),
    ...(notes === undefined ? {} : { notes }),
  };
}

/** Reads one line of a listing. */
export function entryOf({ text, isCut }: Line, { exactNumbers }: ParseOptions): Entry {
  if (!isCut) return parsed(text, () => parseEntry(text, exactNumbers));
  const entry = shortenedEntry(text);
  if (entry === undefined) throw notJson(text);
  return entry;
}

/** Reads one line of search results. */
function resultOf({ text }: Line, { exactNumbers }: ParseOptions): SearchResult {
  return parsed(text, () => {
    if (!exactNumbers) return JSON.parse(text) as SearchResult;
    const { entry, snippet } = parseExactly(text) as SearchResult;
    return { entry: withNumericSeq(entry), snippet };
  });
}

export function parseJson(text: string): unknown {
  return parsed(text, () => JSON.parse(text) as unknown);
}

function parsed<T>(text: string, parse: () => T): T {
  try {
    const value = parse();
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error below says so.
  }
  throw notJson(text);
}

function notJson(text: string): PresenceError {
  // Some proxies end an answer as if it were whole where it broke off.
  if (text.startsWith('{"'))
    return new PresenceError('unreachable', `The answer broke off in ${text.slice(0, 200)}`);
  const message = `The answer has a line that is no JSON object: ${text.slice(0, 200)}`;
  return new PresenceError('unexpected-answer', message);
}
