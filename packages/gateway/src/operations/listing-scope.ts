/** What is listed where there is no variable part in the path. */
import { EVERYTHING, type Kind, localize } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { ListingScope } from '../doors/rest/listing.ts';

export const EVERYTHING_SCOPE: ListingScope = {
  path: EVERYTHING,
  facets: [],
  kinds: true,
  subject: 'the feed',
  title: ({ labels }, locale) => localize(labels.everything, locale),
};

export function kindScope(kind: Kind): ListingScope {
  return {
    path: `/api/${kind}`,
    facets: [facet('kind', kind)],
    kinds: false,
    subject: kind,
    title: ({ kinds }, locale) => localize(kinds[kind].name, locale),
  };
}
