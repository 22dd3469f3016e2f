/**
 * The feeds door (PROTOCOL.md section 15): listings as Atom and JSON Feed, at paths of their own and,
 * by content negotiation, at the paths of the listings.
 */
import {
  EVERYTHING,
  FEED_FORMS,
  FEED_TYPES,
  type FeedForm,
  feedPath,
  isKind,
  type Kind,
  SHORT_FEED_PATHS,
} from '@open-presence/protocol';

import type { RouteDescription } from '../../http/route-description.ts';
import {
  everythingScope,
  LISTED_SCOPES,
  type ScopeResolver,
} from '../../operations/listing-scope.ts';
import type { DoorHandler, ProtocolDoor } from '../context.ts';
import { LISTING_PARAMETERS } from '../listing-parameters.ts';
import { feed } from './feed.ts';
import { LIMIT } from './feed-request.ts';

const DOORS = { atom: 'feed', 'json-feed': 'jsonFeed' } as const;
const NAMES: Readonly<Record<FeedForm, string>> = { atom: 'Atom', 'json-feed': 'JSON Feed' };

const PARAMETERS = LISTING_PARAMETERS.map((name) => (name === 'limit' ? LIMIT : name));

export const feedsDoor: ProtocolDoor = {
  describe: () => import('./openapi.ts'),
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
    description: { ...describe(form), id: DOORS[form] },
  };
}

function route(listing: string, scopeOf: ScopeResolver, form: FeedForm): FeedRoute {
  const path = feedPath(listing, form);
  const kind = kindAt(listing);
  return {
    path,
    get: [representation(feed(scopeOf, form), form)],
    description: {
      ...describe(form),
      tag: kind === undefined ? 'rooms' : 'kinds',
      summary: ({ language, text }) => {
        const listed =
          kind === undefined ? language.doors[doorOf(listing)] : language.kinds[kind].name;
        return `${text(listed)} (${NAMES[form]})`;
      },
      parameters: kind === undefined ? PARAMETERS : PARAMETERS.filter((name) => name !== 'kind'),
      ...(kind === undefined ? {} : { fixed: ['kind'] }),
    },
  };
}

function representation(handle: DoorHandler, form: FeedForm) {
  return { type: FEED_TYPES[form], onlyIfNamed: true, handle, content: form } as const;
}

function describe(form: FeedForm): RouteDescription {
  return {
    door: DOORS[form],
    description: ({ language, text }) => text(language.pages.feedHow),
    parameters: PARAMETERS,
  };
}

/** The door of a listing of several kinds. */
function doorOf(listing: string): 'entries' | 'replies' | 'room' {
  if (listing === EVERYTHING) return 'entries';
  return listing.includes('{slug}') ? 'room' : 'replies';
}

function kindAt(path: string): Kind | undefined {
  const segment = path.slice('/api/'.length);
  return isKind(segment) ? segment : undefined;
}
