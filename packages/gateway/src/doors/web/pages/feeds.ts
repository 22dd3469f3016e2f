/** The feeds of what a page shows: of the same listing, with the same filters. */
import { FEED_FORMS, FEED_TYPES, feedPath } from '@open-presence/protocol';
import type { PageData } from '@open-presence/web/page-data';

type Filters = Readonly<Record<string, string | undefined>>;

export function feedsOf(
  listing: string,
  filters: Filters,
  title: string,
): NonNullable<PageData['feeds']> {
  const parameters = new URLSearchParams();
  for (const [name, value = ''] of Object.entries(filters)) {
    if (value !== '') parameters.set(name, value);
  }
  const query = parameters.size === 0 ? '' : `?${parameters.toString()}`;
  return FEED_FORMS.map((form) => {
    return { title, type: FEED_TYPES[form], href: feedPath(listing, form) + query };
  });
}
