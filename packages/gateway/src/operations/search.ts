/** Finding entries by their words (PROTOCOL.md section 14), the best first or in the order of the log. */
import { entryHead, GatewayError } from '@open-presence/protocol';

import { yieldPeriodically } from '../fair-turns.ts';
import { rejectParameters } from '../intake/parameter-faults.ts';
import { isOrder, parseSearchSelection, parseSkip } from '../intake/selection.ts';
import { StringValueReader, stringValuesIn } from '../json/string-values.ts';
import type { Entry, Log, RankedEntry, ReadEnd, Selection, Seq } from '../log/log.ts';
import type { TextQuery } from '../log/text-query.ts';
import { SnippetBuilder } from '../search/snippet.ts';
import type { OperationsContext } from './context.ts';
import { nextCursors, pathTo, withoutParameter, type Cursors } from './next-page.ts';
import { boundedSelection } from './read-page.ts';
import { searchNotes, untilSearchable } from './search-watermark.ts';
import { waitForListing } from './wait.ts';

const PATH = '/api/search';
const SUBJECT = 'the results';
export const SEARCH_SCOPE = {
  path: PATH,
  facets: [],
  subject: SUBJECT,
  hasBest: true,
} as const;
/** How many bytes of a large entry are scanned for its snippet. */
const MAX_SCANNED_SIZE = 1024 * 1024;
const BEST = 'best';
const SKIP_BY_TIME =
  'it skips the best results; leave out "order", or read on by "before" (newest first) or "after" (oldest first)';

export interface SearchRequest {
  readonly parameters: URLSearchParams;
  readonly selection: Selection & { readonly textQuery: TextQuery; readonly limit: number };
  /** How many of the best matches to skip; undefined where results are in the order of the log. */
  readonly skip: number | undefined;
  readonly head: Seq;
  /** The seq up to which words are indexed: later entries are not searched. */
  readonly watermark: Seq;
  /** What the caller should know about how its words were read, and about entries that were not. */
  readonly notes: readonly string[];
}

/** Whether results are ranked, and the parameters without `order=best`. Throws for a `skip` of unranked results. */
function takeRanking(parameters: URLSearchParams): {
  readonly ranked: boolean;
  readonly parameters: URLSearchParams;
} {
  const orders = parameters.getAll('order');
  if (orders.length === 0) return { ranked: true, parameters };
  const ranked = orders.every((order) => order === BEST);
  if (orders.every(isOrder)) rejectParameters(parameters, SUBJECT, { skip: SKIP_BY_TIME });
  return { ranked, parameters: ranked ? withoutParameter(parameters, 'order') : parameters };
}

interface SearchOptions {
  /** How many results a request without `limit` gets; all, by default. */
  readonly defaultLimit?: number;
  /** What the caller could have sent, in the form of its door. */
  readonly example: unknown;
  readonly signal: AbortSignal;
}

/** Waits a little for the index, and for `wait`. Throws `invalid-parameter`, `unknown-kind`, `unknown-room`, or the signal's reason. */
export async function searchRequest(
  app: Pick<OperationsContext, 'log' | 'grammar'>,
  sent: URLSearchParams,
  { defaultLimit = Number.MAX_SAFE_INTEGER, example, signal }: SearchOptions,
): Promise<SearchRequest> {
  const { log, grammar } = app;
  const { ranked, parameters } = takeRanking(sent);
  const scope = { ...SEARCH_SCOPE, grammar, log };
  await waitForListing(app, scope, parameters, signal);
  const { textQuery, ...wanted } = await parseSearchSelection(parameters, scope);
  if (textQuery === undefined) throw noQuery(example);
  await untilSearchable(log, signal);
  const watermark = log.searchWatermark();
  const head = log.head();
  const unbounded = parameters.has('limit') ? Number.MAX_SAFE_INTEGER : defaultLimit;
  const { limit = unbounded } = wanted;
  return {
    parameters,
    selection: boundedSelection({ ...wanted, textQuery, limit, signal }, watermark),
    skip: ranked ? await parseSkip(parameters, SUBJECT) : undefined,
    head,
    watermark,
    notes: searchNotes(parameters, wanted, { head, watermark }),
  };
}

function noQuery(example: unknown): GatewayError {
  const spelled = typeof example === 'string' ? example : JSON.stringify(example);
  const detail = `"q" must be words to search for, but it is missing. For example: ${spelled}`;
  return new GatewayError('invalid-parameter', `Cannot search: ${detail}`, {
    faults: [{ parameter: 'q', detail }],
    example,
  });
}

/** A result; those in the order of the log are not ranked. */
export type Match = Entry & Partial<RankedEntry>;

export function matchesOf(
  log: Log,
  { selection, skip }: SearchRequest,
): AsyncGenerator<Match, ReadEnd, undefined> {
  return skip === undefined ? log.readEntries(selection) : log.readRanked({ ...selection, skip });
}

/** What callers should know: see `SearchRequest`, and of sections where there are some. */
export function resultNotes({ notes }: SearchRequest, first: Match | undefined): readonly string[] {
  const rankedFrom = first?.rankedFrom;
  if (rankedFrom === undefined) return notes;
  return [
    ...notes,
    `Very many entries match. These are the best of those from seq ${rankedFrom} on; the older ones follow, again the best first.`,
  ];
}

/** What leads on to the results after `last`, or null if there are none. */
export function nextResults(
  { selection, skip, watermark }: SearchRequest,
  end: ReadEnd,
  last: Match | undefined,
): Cursors | null {
  if (skip === undefined) return nextCursors({ selection, head: watermark }, end);
  if (!end.more || selection.limit === 0) return null;
  // `before`, since entries stored meanwhile would shift the ranking.
  const next = last?.next ?? { before: selection.before ?? watermark + 1, skip };
  return { skip: next.skip, before: next.before };
}

/** The same as a path with a query. */
export function nextResultsPath(
  request: SearchRequest,
  end: ReadEnd,
  last: Match | undefined,
): string | null {
  const { parameters } = request;
  return pathTo(nextResults(request, end, last), { path: PATH, parameters });
}

/** An excerpt of the visitor's text around the match. Empty if the text was withheld meanwhile. */
export async function snippetOf(
  log: Pick<Log, 'entry'>,
  found: Entry,
  { textQuery, signal }: SearchRequest['selection'],
): Promise<string> {
  const isOmitted = found.portability === 'omitted';
  const entry = isOmitted ? await log.entry(found.metadata.seq, 'exact') : found;
  if (entry === undefined || entry.withheld !== undefined) return '';
  const { text, metadata } = entry;
  const snippet = new SnippetBuilder(textQuery);
  const yieldTurn = yieldPeriodically(signal);
  const { length } = Buffer.from(entryHead(metadata));
  if (text !== undefined) {
    for (const value of stringValuesIn(text.subarray(length))) {
      snippet.add(value);
      await yieldTurn();
    }
    return snippet.text;
  }
  let value = '';
  const reader = new StringValueReader({
    text: (part) => void (value += part),
    end: () => {
      snippet.add(value);
      value = '';
    },
  });
  let size = 0;
  for await (const chunk of entry.chunks()) {
    reader.feed(size === 0 ? chunk.subarray(length) : chunk);
    size += chunk.length;
    if (value !== '') snippet.add(value);
    value = '';
    await yieldTurn();
    if (size >= MAX_SCANNED_SIZE) break;
  }
  return snippet.text;
}
