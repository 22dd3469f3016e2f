/**
 * The feeds of what a page shows: of the same listing, with the same filters. None for filters so long
 * that each link would be a page by itself.
 */
import { FEED_FORMS, FEED_TYPES, feedPath } from '@open-presence/protocol';
import type { PageData } from '@open-presence/web/page-data';

const MAX_QUERY_LENGTH = 2000;

/** `filters`: the names of parameters in the address of the page. */
export function feedsOf(
  listing: string,
  title: string,
  address: URLSearchParams = new URLSearchParams(),
  filters: readonly string[] = [],
): NonNullable<PageData['feeds']> {
  const given = [...address].filter(([name, value]) => filters.includes(name) && value !== '');
  const query = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
  if (query.length > MAX_QUERY_LENGTH) return [];
  return FEED_FORMS.map((form) => {
    return { title, type: FEED_TYPES[form], href: feedPath(listing, form) + query };
  });
}
