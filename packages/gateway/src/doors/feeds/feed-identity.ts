/** The id, title and address of a feed. They follow from its filters, whichever page is read. */
import { hash } from 'node:crypto';

import { EVERYTHING, FILTER_NAMES } from '@open-presence/protocol';

import type { Log } from '../../log/log.ts';
import { titleExcerpt, type ListingScope } from '../../operations/listing-scope.ts';
import { pathWithQuery } from '../../operations/next-page.ts';
import type { FeedRequest } from './feed-request.ts';

/** Names and values of the parameters that tell one feed of a scope from another. */
export type FeedFilters = [string, string][];

/** Other parameters choose a page, or mean nothing. */
const FILTERS = new Set<string>(['q', 'room', 'kind', 'since', 'until', ...FILTER_NAMES]);
/** Stands for the path of all entries in ids, which must not change while feeds are subscribed to. */
const EVERYTHING_NAME = '/feed';
/** Filters that a title names at most. */
const MAX_TITLE_FILTERS = 4;

export function filtersOf({ fixed = {} }: ListingScope, parameters: URLSearchParams): FeedFilters {
  return [...parameters].filter(([name]) => FILTERS.has(name) && !(name in fixed));
}

/** A UUID of version 8 (RFC 9562 section 5.8), the same at every address of the gateway. */
export function idOf(
  { id }: Pick<Log, 'id'>,
  { path }: ListingScope,
  filters: FeedFilters,
): string {
  const parameters = new URLSearchParams(filters);
  parameters.sort();
  const name = path === EVERYTHING ? EVERYTHING_NAME : path;
  const digest = hash('sha256', `${id} ${pathWithQuery(name, parameters)}`, 'hex');
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
export function listingOf({ path }: ListingScope, filters: FeedFilters): string {
  return pathWithQuery(path, new URLSearchParams(filters));
}
