/** The page `/search`: entries by their words, the best match first or in the order of the log. */
import { EVERYTHING, GatewayError, SELECTOR_NAMES } from '@open-presence/protocol';
import type { PageEntry, SearchPage, SearchResult, Shell } from '@open-presence/web/page-data';
import { pageTexts } from '@open-presence/web/renderer';

import { abortOnDisconnect } from '../../../http/context.ts';
import { queryOf } from '../../../http/parameters/query.ts';
import { titleExcerpt } from '../../../operations/listing-scope.ts';
import {
  type Match,
  matchesOf,
  nextResultsPath,
  SEARCH_SCOPE,
  searchRequest,
  snippetOf,
} from '../../../operations/search.ts';
import { markMatches } from '../../../search/snippet.ts';
import type { DoorRequest } from '../../context.ts';
import { givenIn } from '../entries/entry-list.ts';
import { pageEntryOf } from '../entries/page-entry.ts';
import type { PageContent } from '../page-route.ts';
import { feedsOf } from './feeds.ts';

const PAGE_SIZE = '20';
const FILTERS = new Set(['q', 'kind', 'room', 'since', 'until', ...SELECTOR_NAMES]);
const CURSORS = ['skip', 'before', 'after'];
const USED = new Set([...FILTERS, ...CURSORS, 'order', 'limit']);

/** Changes with what can be found. */
export function versionOf({ app }: DoorRequest): string {
  return String(app.log.searchWatermark());
}

export async function createPage(context: DoorRequest, shell: Shell): Promise<PageContent> {
  const address = queryOf(context.request);
  const { title, description } = pageTexts('search', shell.locale);
  const page = { page: 'search', shell, title, description } as const;
  const q = address.get('q') ?? '';
  if (!/\S/.test(q)) return { data: page };
  const feeds = feedsOf(EVERYTHING, title, givenIn(address, FILTERS));
  const found = `${title}: ${titleExcerpt(q)}`;
  const data = { ...page, unlisted: true, title: found, feeds } as const;
  try {
    return { data: { ...data, ...(await resultsOf(context, address)) } };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'invalid-parameter') throw error;
    return { status: 400, data: { ...data, problem: error.message } };
  }
}

async function resultsOf(
  context: DoorRequest,
  address: URLSearchParams,
): Promise<Pick<SearchPage, 'results' | 'isSection' | 'next'>> {
  const { app } = context;
  using caller = abortOnDisconnect(context);
  const parameters = givenIn(address, USED);
  parameters.append('limit', PAGE_SIZE);
  const search = await searchRequest(app, parameters, {
    example: '/search?q=garden',
    signal: caller.signal,
  });
  const results: SearchResult[] = [];
  let isSection = false;
  let last: Match | undefined;
  const matches = matchesOf(app.log, search);
  for (;;) {
    const step = await matches.next();
    if (step.done === true) {
      const next = step.value.more ? nextResultsPath(search, step.value, last) : null;
      return { results, isSection, next: next === null ? undefined : cursorsIn(next) };
    }
    if (last === undefined) isSection = step.value.rankedFrom !== undefined;
    last = step.value;
    const snippet = await snippetOf(app.log, last, search.selection);
    results.push({
      entry: withoutTexts(await pageEntryOf(last)),
      snippet: markMatches(snippet, search.selection.textQuery),
    });
  }
}

/** The cursors in the address of the next results in the API. */
function cursorsIn(next: string): Record<string, string> {
  const parameters = new URLSearchParams(next.slice(SEARCH_SCOPE.path.length));
  return Object.fromEntries([...parameters].filter(([name]) => CURSORS.includes(name)));
}

/** The snippet stands for them. */
function withoutTexts(entry: PageEntry): PageEntry {
  const { id, seq, kind, room, timestamp, author } = entry;
  return { id, seq, kind, room, timestamp, author, text: '' };
}
