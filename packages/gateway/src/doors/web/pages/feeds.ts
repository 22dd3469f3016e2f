/**
 * The feeds of what a page shows: of the same listing, with the same filters. None for filters so long
 * that each link would be a page by itself.
 */
import { FEED_FORMS, FEED_TYPES, feedPath } from '@open-presence/protocol';
import type { PageData } from '@open-presence/web/page-data';

const MAX_QUERY_LENGTH = 2000;

/** `filters`: parameters of the listing. */
export function feedsOf(
  listing: string,
  title: string,
  filters: URLSearchParams = new URLSearchParams(),
): NonNullable<PageData['feeds']> {
  const query = filters.size === 0 ? '' : `?${filters.toString()}`;
  if (query.length > MAX_QUERY_LENGTH) return [];
  return FEED_FORMS.map((form) => {
    return { title, type: FEED_TYPES[form], href: feedPath(listing, form) + query };
  });
}
