/** The id, title and address of a feed. They follow from its filters and are the same on each page. */
import { hash } from 'node:crypto';

import { EVERYTHING, SELECTOR_NAMES } from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import type { Log } from '../../log/log.ts';
import { titleExcerpt, type ListingScope } from '../../operations/listing-scope.ts';
import { pathWithQuery } from '../../operations/next-page.ts';
import type { FeedRequest } from './feed-request.ts';

/** Names and values of the parameters that tell one feed of a scope from another. */
export type FeedFilters = [string, string][];

/** Other parameters choose a page, or mean nothing. */
const FILTERS = new Set<string>(['q', 'room', 'kind', 'since', 'until', ...SELECTOR_NAMES]);
/** Stands for the path of all entries in ids, which must not change while somebody subscribes to the feed. */
const EVERYTHING_NAME = '/feed';
/** With more filters, an id has them in the order given: sorting them would take long in one piece. */
const MAX_SORTED = 1024;
/** Filters that a title names at most. */
const MAX_TITLE_FILTERS = 4;

/** Takes turns with other work. */
export async function filtersOf(
  { fixed = {} }: ListingScope,
  parameters: URLSearchParams,
): Promise<FeedFilters> {
  const yieldTurn = yieldPeriodically();
  const filters: FeedFilters = [];
  for (const pair of parameters) {
    if (FILTERS.has(pair[0]) && !(pair[0] in fixed)) filters.push(pair);
    const turn = yieldTurn();
    if (turn !== undefined) await turn;
  }
  return filters;
}

/** A UUID of version 8 (RFC 9562 section 5.8), the same at every address of the gateway. */
export async function idOf(
  { id }: Pick<Log, 'id'>,
  { path }: ListingScope,
  filters: FeedFilters,
): Promise<string> {
  const parameters = await parametersOf(filters);
  if (filters.length <= MAX_SORTED) parameters.sort();
  const name = path === EVERYTHING ? EVERYTHING_NAME : path;
  const digest = hash('sha256', `${id} ${await pathWithQuery(name, parameters)}`, 'hex');
  const variant = '89ab'[Number.parseInt(digest[15] ?? '0', 16) % 4];
  const parts = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(12, 15)}`,
    `${variant}${digest.slice(16, 19)}`,
    digest.slice(20, 32),
  ];
  return `urn:uuid:${parts.join('-')}`;
}

export function titleOf(
  { scope, language, locale, text }: FeedRequest,
  filters: FeedFilters,
): string {
  return [
    text(language.service),
    scope.title(language, locale),
    ...filters
      .slice(0, MAX_TITLE_FILTERS)
      .map(([name, value]) => `${name}: ${titleExcerpt(value)}`),
  ].join(' · ');
}

/** The listing of the same entries as JSON. */
export async function listingOf({ path }: ListingScope, filters: FeedFilters): Promise<string> {
  return await pathWithQuery(path, await parametersOf(filters));
}

async function parametersOf(filters: FeedFilters): Promise<URLSearchParams> {
  const yieldTurn = yieldPeriodically();
  const parameters = new URLSearchParams();
  for (const [name, value] of filters) {
    parameters.append(name, value);
    const turn = yieldTurn();
    if (turn !== undefined) await turn;
  }
  return parameters;
}
