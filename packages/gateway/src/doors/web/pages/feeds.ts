/**
 * The feeds of what a page shows: of the same listing, with the same filters. None for filters so long
 * that each link would be a page by itself.
 */
import { FEED_FORMS, FEED_TYPES, feedPath } from '@open-presence/protocol';
import type { PageData } from '@open-presence/web/page-data';

import { parametersOf } from '../entries/entry-list.ts';

const MAX_QUERY_LENGTH = 2000;

/** `filters`: parameters of the listing; values that are missing or empty select nothing. */
export function feedsOf(
  listing: string,
  title: string,
  filters: Parameters<typeof parametersOf>[0] = {},
): NonNullable<PageData['feeds']> {
  const given = parametersOf(filters);
  const query = given.size === 0 ? '' : `?${given.toString()}`;
  if (query.length > MAX_QUERY_LENGTH) return [];
  return FEED_FORMS.map((form) => {
    return { title, type: FEED_TYPES[form], href: feedPath(listing, form) + query };
  });
}
