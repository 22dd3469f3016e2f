/** What is listed where there is no variable part in the path. */
import { say, type Kind } from '@open-presence/protocol';

import { facet } from '../../log/facet.ts';
import { EVERYTHING } from '../feeds/addresses.ts';
import type { Place } from './listing.ts';

export const EVERYTHING_FED: Place = {
  path: EVERYTHING,
  facets: [],
  kinds: true,
  subject: 'the feed',
  title: ({ labels }, tongue) => say(labels.everything, tongue),
};

export function placeOf(kind: Kind): Place {
  return {
    path: `/api/${kind}`,
    facets: [facet('kind', kind)],
    kinds: false,
    subject: kind,
    title: ({ kinds }, tongue) => say(kinds[kind].name, tongue),
  };
}
