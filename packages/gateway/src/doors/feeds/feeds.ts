/**
 * The feeds door (PROTOCOL.md section 15): listings as Atom and JSON Feed, at paths of their own and,
 * by content negotiation, at the paths of the listings.
 *
 * Invariant: A feed is well-formed, has visitors’ texts as plain text, and its pages have each
 *   entry once.
 * Test: `test/feeds/feeds.test.ts` “stay well-formed and say what was said, whatever visitors say”
 *   “give each entry once, page by page, while others speak”
 */
import {
  FEED_FORMS,
  FEED_TYPES,
  type FeedForm,
  feedPath,
  isKind,
  SHORT_FEED_PATHS,
} from '@open-presence/protocol';

import {
  everythingScope,
  LISTED_SCOPES,
  type ScopeResolver,
} from '../../operations/listing-scope.ts';
import type { DoorHandler, ProtocolDoor } from '../context.ts';
import { LISTING_PARAMETERS } from '../listing-parameters.ts';
import { feed } from './feed.ts';

/** The names of the feeds of all entries. */
const IDS: Readonly<Record<FeedForm, string>> = { atom: 'feed', 'json-feed': 'jsonFeed' };

export const feedsDoor: ProtocolDoor = {
  routes: FEED_FORMS.flatMap((form) => [
    shortRoute(form),
    ...LISTED_SCOPES.flatMap(([path, scopeOf]) => [
      route(path, scopeOf, form),
      { path, get: [representation(feed(scopeOf, form), form)] },
    ]),
  ]),
};

type FeedRoute = ProtocolDoor['routes'][number];

function shortRoute(form: FeedForm): FeedRoute {
  const path = SHORT_FEED_PATHS[form];
  return {
    path,
    get: [representation(feed(everythingScope, form, path), form)],
    description: { id: IDS[form], parameters: LISTING_PARAMETERS },
  };
}

function route(listing: string, scopeOf: ScopeResolver, form: FeedForm): FeedRoute {
  const ofOneKind = isKind(listing.slice('/api/'.length));
  const parameters = LISTING_PARAMETERS.filter((name) => !ofOneKind || name !== 'kind');
  return {
    path: feedPath(listing, form),
    get: [representation(feed(scopeOf, form), form)],
    description: { parameters, ...(ofOneKind ? { fixed: ['kind'] } : {}) },
  };
}

function representation(handle: DoorHandler, form: FeedForm) {
  return { type: FEED_TYPES[form], onlyIfNamed: true, handle } as const;
}
