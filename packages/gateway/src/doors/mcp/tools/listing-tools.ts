/** The tools that list entries: `read`, `wait_for_news`, `search` and `catch_up`. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { portableJson, quoted } from '@open-presence/protocol';

import { waitForEntries } from '../../../feed/wait-for-entries.ts';
import { abortOnDisconnect } from '../../../http/context.ts';
import { parseSeconds } from '../../../intake/selection.ts';
import { requireLogOrder } from '../../../intake/parameter-faults.ts';
import type { JsonObject } from '../../../json/json-object.ts';
import type { Entry, ReadEnd, Selection, Seq } from '../../../log/log.ts';
import { catchUpParts } from '../../../operations/catch-up/catch-up-answers.ts';
import type { RequestParameters } from '../../../operations/catch-up/catch-up-document.ts';
import { CATCH_UP_SUBJECT, readCatchUp } from '../../../operations/catch-up/read-catch-up.ts';
import { namesAsked, notesOnNames } from '../../../operations/near-visitor.ts';
import { nextCursors } from '../../../operations/next-page.ts';
import { boundedSelection, DEFAULT_LIMIT, readPage } from '../../../operations/read-page.ts';
import {
  type Match,
  matchesOf,
  nextResults,
  resultNotes,
  searchRequest,
  snippetOf,
} from '../../../operations/search.ts';
import { searchNotes, untilSearchable } from '../../../operations/search-watermark.ts';
import {
  callToolResult,
  listedEntry,
  MAX_RESULT_SIZE,
  withoutId,
  type ListedEntry,
  type ToolResult,
} from './results.ts';
import {
  invalidArgument,
  LISTING_PARAMETERS,
  markListingReader,
  markPresent,
  namedParameters,
  NEWS_PARAMETERS,
  obeyedArguments,
  parametersOf,
  SEARCH_PARAMETERS,
  selectionOf,
  textArgument,
  type ToolContext,
} from './tool-call.ts';

const DEFAULT_WAIT_SECONDS = 25;
/** Some clients give a call up that has been silent for 10 s. */
const PROGRESS_INTERVAL_SECONDS = 5;

export interface ListingQuery {
  /** The tool that reads on. */
  readonly tool: 'read' | 'wait_for_news';
  readonly parameters: URLSearchParams;
  readonly selection: Selection;
  /** The arguments to read on with, but for the cursor. */
  readonly given: JsonObject;
}

export async function read(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app } = context;
  const parameters = parametersOf(args, 'the entries');
  const selection = await selectionOf(app, parameters);
  markListingReader(app, args, parameters);
  const given = obeyedArguments(args, LISTING_PARAMETERS);
  const listing = await listEntries(context, { tool: 'read', parameters, selection, given });
  return callToolResult(context, listing);
}

export async function waitForNews(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app } = context;
  const { log } = app;
  const parameters = parametersOf(args, 'the news');
  requireLogOrder(parameters, 'the news');
  parameters.set('order', 'oldest');
  const timeoutMs = 1000 * (waitSeconds(args, 'the news') ?? DEFAULT_WAIT_SECONDS);
  const { after = log.head(), ...filters } = await selectionOf(app, parameters);
  const selection = { ...filters, after };
  markListingReader(app, args, parameters);
  using caller = abortOnDisconnect(context, context.signal);
  using _progress = tellProgress(context);
  await waitForEntries(log, selection, { timeoutMs, signals: [caller.signal] });
  const given = obeyedArguments(args, NEWS_PARAMETERS);
  const query = { tool: 'wait_for_news', parameters, selection, given } as const;
  return callToolResult(context, await listEntries(context, query));
}

/** Until disposal. */
function tellProgress({ language, text, sendProgress }: ToolContext): Disposable {
  let seconds = 0;
  const tell = (): void => {
    seconds += PROGRESS_INTERVAL_SECONDS;
    sendProgress?.(seconds, `${text(language.mcp.results.waiting)} ${seconds}`);
  };
  const timer = sendProgress && setInterval(tell, PROGRESS_INTERVAL_SECONDS * 1000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Undefined where the arguments do not say it. Throws `invalid-parameter`. */
function waitSeconds(args: JsonObject, subject: string): number | undefined {
  const text = textArgument(args, 'seconds', subject);
  if (text === undefined) return undefined;
  const seconds = parseSeconds(text);
  if (seconds !== undefined) return seconds;
  const detail = `"seconds" must be a number from 0, got ${quoted(text)}`;
  throw invalidArgument('seconds', detail, subject);
}

/** As many of the entries as fit a result, and where to read on. */
export async function listEntries(
  context: ToolContext,
  { tool, parameters, selection: wanted, given }: ListingQuery,
): Promise<ToolResult> {
  const { log } = context.app;
  using caller = abortOnDisconnect(context, context.signal);
  const { signal } = caller;
  const isSearch = wanted.textQuery !== undefined;
  if (isSearch) await untilSearchable(log, signal);
  const head = log.head();
  const known = isSearch ? Math.min(log.searchWatermark(), head) : undefined;
  const named = await notesOnNames(context.app, namesAsked(parameters));
  const notes = [...searchNotes(parameters, wanted, { head, watermark: known }), ...named];
  const limited = { ...wanted, limit: wanted.limit ?? DEFAULT_LIMIT };
  const selection = boundedSelection(limited, known ?? head);
  const { entries, end } = await readListed(log.readEntries({ ...selection, signal }));
  const cursors = nextCursors({ selection, head }, end);
  const next = cursors && { ...given, ...cursors };
  return {
    ...summarize(context, entries, { head, known, notes, tool, next, more: end.more }),
    lines: entries.map(({ line }) => line),
  };
}

/** The tool that searches, as `GET /api/search` does (PROTOCOL.md section 14). */
export async function search(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app } = context;
  const parameters = parametersOf(args, 'the results', SEARCH_PARAMETERS);
  using caller = abortOnDisconnect(context, context.signal);
  const request = await searchRequest(app, parameters, {
    defaultLimit: DEFAULT_LIMIT,
    example: { q: 'garden' },
    signal: caller.signal,
  });
  markListingReader(app, args, parameters);
  const { selection, head, watermark: known } = request;
  const { entries, end } =
    selection.limit === 0
      ? { entries: [], end: { last: undefined, more: true } }
      : await readListed(matchesOf(app.log, request), (entry) =>
          snippetOf(app.log, entry, selection),
        );
  const cursors = nextResults(request, end, entries.at(-1)?.match);
  const first = entries[0]?.match;
  const next = cursors && { ...obeyedArguments(args, SEARCH_PARAMETERS), ...cursors };
  return callToolResult(context, {
    ...summarize(context, entries, {
      head,
      known,
      rankedFrom: first?.rankedFrom,
      notes: [...resultNotes(request, first), ...(await notesOnNames(app, namesAsked(parameters)))],
      tool: 'search',
      next,
      more: end.more,
    }),
    lines: entries.map(({ line, snippet }) =>
      snippet === undefined
        ? `{"entry":${line}}`
        : `{"entry":${line},"snippet":${portableJson(snippet)}}`,
    ),
  });
}

interface MatchedEntry extends ListedEntry {
  readonly match: Match;
  /** The words that match, if the line lacks them. */
  readonly snippet: string | undefined;
}

/** At least one entry, and further ones while they fit into a result. */
async function readListed(
  reading: AsyncGenerator<Match, ReadEnd, undefined>,
  snippetFor?: (entry: Entry) => string | Promise<string>,
): Promise<{ entries: MatchedEntry[]; end: ReadEnd }> {
  const entries: MatchedEntry[] = [];
  let total = 0;
  const end = await readPage(reading, MAX_RESULT_SIZE, async (match) => {
    const listed = listedEntry(match);
    const line = withoutId(listed.line);
    const snippet = listed.shortened === undefined ? undefined : await snippetFor?.(match);
    const size = line.length + (snippet?.length ?? 0);
    total += size;
    if (entries.length > 0 && total > MAX_RESULT_SIZE) return undefined;
    entries.push({ ...listed, line, match, snippet });
    return size;
  });
  return { entries, end };
}

interface PageInfo {
  /** The tool that reads on. */
  readonly tool: string;
  /** Null where nothing follows, now or later. */
  readonly next: JsonObject | null;
  /** Whether there are more entries now. */
  readonly more: boolean;
  readonly head: Seq;
  /** The search watermark, where the listing searches. */
  readonly known: Seq | undefined;
  /** The lowest seq of the section that the first result is in. */
  readonly rankedFrom?: Seq | undefined;
  /** Sentences about the result. */
  readonly notes: readonly string[];
}

function summarize(
  { app, language, text }: ToolContext,
  entries: readonly ListedEntry[],
  { tool, next, more, head, known, rankedFrom, notes }: PageInfo,
): Pick<ToolResult, 'summary' | 'own'> {
  const { results } = language.mcp;
  const shortened = entries.flatMap((entry) => entry.shortened ?? []);
  const end = more ? '' : text(results.end);
  const further = next === null ? end : `${text(more ? results.more : results.later)} ${tool}.`;
  const parts = [further, shortened.length === 0 ? '' : text(results.shortened)];
  return {
    summary: parts.filter((part) => part !== '').join(' '),
    own: {
      count: entries.length,
      head,
      log: app.log.id,
      known,
      rankedFrom,
      notes: notes.length === 0 ? undefined : notes,
      next,
      shortened: shortened.length === 0 ? undefined : shortened,
    },
  };
}

/** The arguments of `catch_up` that are parameters of `GET /api/catch-up`. */
const CATCH_UP_ARGUMENTS = ['identity', 'after', 'before', 'budget'] as const;

/** What concerns a name, as `GET /api/catch-up` answers it (PROTOCOL.md section 22). */
export async function catchUp(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app } = context;
  const parameters = namedParameters(args, CATCH_UP_SUBJECT, CATCH_UP_ARGUMENTS);
  const seconds = waitSeconds(args, CATCH_UP_SUBJECT);
  if (seconds !== undefined) parameters.set('wait', String(seconds));
  markPresent(app, args);
  using caller = abortOnDisconnect(context, context.signal);
  using _progress = seconds === undefined ? undefined : tellProgress(context);
  const { signal } = caller;
  const { own, items } = catchUpParts(
    await readCatchUp(app, parameters, { example: { identity: 'Lumen' }, signal }),
  );
  const calls = {
    more: own.more.map(({ request, ...counted }) => ({
      ...counted,
      ...(request === undefined ? {} : { arguments: request }),
    })),
    sleep: toArguments(own.sleep),
  };
  const named = await notesOnNames(app, namesAsked(parameters));
  return callToolResult(context, {
    summary: '',
    own: { ...own, ...calls, notes: [...own.notes, ...named] },
    lines: items.map((item) => portableJson(item)),
  });
}

/** The tools that wait call this `seconds`. */
function toArguments({ wait, ...others }: RequestParameters): JsonObject {
  return { ...others, ...(wait === undefined ? {} : { seconds: wait }) };
}
