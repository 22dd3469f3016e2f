/**
 * The feeds of what a page shows: of the same listing, with the same filters. None for filters so long
 * that each link would be a page by itself.
 */
import { FEED_FORMS, FEED_TYPES, feedPath } from '@open-presence/protocol';
import type { PageData, Shell } from '@open-presence/web/page-data';
import { queryIn } from '@open-presence/web/renderer';

const MAX_QUERY_LENGTH = 2000;

/**
 * `shell`: of a page whose address may have filters. `filters`: by the names of their parameters there, those of
 * the listing.
 */
export function feedsOf(
  listing: string,
  title: string,
  shell?: Shell,
  filters: Readonly<Record<string, string>> = {},
): NonNullable<PageData['feeds']> {
  if (shell?.isCut === true) return [];
  const given = [...(shell === undefined ? [] : queryIn(shell))].flatMap(
    ([name, value]): [string, string][] => {
      const filter = Object.hasOwn(filters, name) ? filters[name] : undefined;
      return filter === undefined || value === '' ? [] : [[filter, value]];
    },
  );
  const query = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
  if (query.length > MAX_QUERY_LENGTH) return [];
  return FEED_FORMS.map((form) => {
    return { title, type: FEED_TYPES[form], href: feedPath(listing, form) + query };
  });
}
