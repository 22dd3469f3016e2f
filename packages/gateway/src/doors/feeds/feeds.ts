/**
 * The feeds door (PROTOCOL.md section 15): listings as Atom and JSON Feed, at paths of their own and,
 * by content negotiation, at the paths of the listings.
 */
import { EVERYTHING, FEED_FORMS, FEED_TYPES, feedPath } from '@open-presence/protocol';

import { EVERYTHING_SCOPE, LISTED_SCOPES } from '../../operations/listing-scope.ts';
import type { ProtocolDoor } from '../context.ts';
import { feed } from './feed.ts';

export const feedsDoor: ProtocolDoor = {
  routes: FEED_FORMS.flatMap((form) => [
    { path: feedPath(EVERYTHING, form), get: feed(() => EVERYTHING_SCOPE, form) },
    ...LISTED_SCOPES.flatMap(([path, scopeOf]) => {
      const handle = feed(scopeOf, form);
      return [
        { path: feedPath(path, form), get: handle },
        { path, get: [{ type: FEED_TYPES[form], onlyIfNamed: true, handle } as const] },
      ];
    }),
  ]),
};
