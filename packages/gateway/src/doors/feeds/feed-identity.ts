/** The id, title and address of a feed. They follow from its filters and are the same on each page. */
import { hash } from 'node:crypto';

import { EVERYTHING, SELECTOR_NAMES } from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import type { Log } from '../../log/log.ts';
import { titleExcerpt, type ListingScope } from '../../operations/listing-scope.ts';
import { pathWithQuery } from '../../operations/next-page.ts';
import type { FeedRequest } from './feed-request.ts';

/** Other parameters choose a page, or mean nothing. */
const FILTERS = new Set<string>(['q', 'room', 'kind', 'since', 'until', ...SELECTOR_NAMES]);
/** Stands for the path of all entries in ids, which must not change while somebody subscribes to the feed. */
const EVERYTHING_NAME = '/feed';
/** With more filters, an id has them in the order given: sorting them would take long in one piece. */
const MAX_SORTED = 1024;
/** Filters that a title names at most. */
const MAX_TITLE_FILTERS = 4;

/** The parameters that tell one feed of a scope from another. Takes turns with other work. */
export async function filtersOf(
  { fixed = {} }: ListingScope,
  parameters: URLSearchParams,
): Promise<URLSearchParams> {
  const yieldTurn = yieldPeriodically();
  const filters = new URLSearchParams();
  for (const [name, value] of parameters) {
    if (FILTERS.has(name) && !(name in fixed)) filters.append(name, value);
    const turn = yieldTurn();
    if (turn !== undefined) await turn;
  }
  return filters;
}

/** A UUID of version 8 (RFC 9562 section 5.8), the same at every address of the gateway. */
export async function idOf(
  { id }: Pick<Log, 'id'>,
  { path }: ListingScope,
  filters: URLSearchParams,
): Promise<string> {
  const inOrder = filters.size <= MAX_SORTED ? new URLSearchParams(filters) : filters;
  if (inOrder !== filters) inOrder.sort();
  const name = path === EVERYTHING ? EVERYTHING_NAME : path;
  const digest = hash('sha256', `${id} ${await pathWithQuery(name, inOrder)}`, 'hex');
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
  filters: URLSearchParams,
): string {
  const named = filters.entries().take(MAX_TITLE_FILTERS);
  return [
    text(language.service),
    scope.title(language, locale),
    ...named.map(([name, value]) => `${name}: ${titleExcerpt(value)}`),
  ].join(' · ');
}
