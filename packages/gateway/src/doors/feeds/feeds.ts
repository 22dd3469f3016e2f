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
} from '@open-presence/protocol';

import type { ParameterDescription, RouteDescription } from '../../http/route-description.ts';
import {
  EVERYTHING_SCOPE,
  LISTED_SCOPES,
  type ScopeResolver,
} from '../../operations/listing-scope.ts';
import { DEFAULT_LIMIT } from '../../operations/read-page.ts';
import type { ProtocolDoor } from '../context.ts';
import { LISTING_PARAMETERS } from '../listing-parameters.ts';
import { feed } from './feed.ts';

const DOORS = { atom: 'feed', 'json-feed': 'jsonFeed' } as const;
const NAMES: Readonly<Record<FeedForm, string>> = { atom: 'Atom', 'json-feed': 'JSON Feed' };

const LIMIT: ParameterDescription = {
  name: 'limit',
  schema: { type: 'integer', minimum: 0, default: DEFAULT_LIMIT },
};
const PARAMETERS = LISTING_PARAMETERS.map((name) => (name === 'limit' ? LIMIT : name));

export const feedsDoor: ProtocolDoor = {
  describe: () => import('./openapi.ts'),
  routes: FEED_FORMS.flatMap((form) => [
    route(EVERYTHING, () => EVERYTHING_SCOPE, form),
    ...LISTED_SCOPES.flatMap(([path, scopeOf]) => [
      route(path, scopeOf, form),
      { path, get: [representation(scopeOf, form, form)] },
    ]),
  ]),
};

function route(
  path: string,
  scopeOf: ScopeResolver,
  form: FeedForm,
): ProtocolDoor['routes'][number] {
  return {
    path: feedPath(path, form),
    get: [representation(scopeOf, form, feedPath(path, form))],
    description: describe(path, form),
  };
}

function representation(scopeOf: ScopeResolver, form: FeedForm, content: string) {
  const handle = feed(scopeOf, form);
  return { type: FEED_TYPES[form], onlyIfNamed: true, handle, content } as const;
}

function describe(path: string, form: FeedForm): RouteDescription {
  const shared = {
    door: DOORS[form],
    description: ({ language, text }) => text(language.pages.feedHow),
    parameters: PARAMETERS,
  } satisfies RouteDescription;
  if (path === EVERYTHING) return { ...shared, id: DOORS[form] };
  const kind = kindAt(path);
  return {
    ...shared,
    tag: kind === undefined ? 'rooms' : 'kinds',
    summary: ({ language: { kinds, doors }, text }) => {
      const listing = path.includes('{slug}') ? doors.room : doors.replies;
      return `${text(kind === undefined ? listing : kinds[kind].meaning)} (${NAMES[form]})`;
    },
    parameters: kind === undefined ? PARAMETERS : PARAMETERS.filter((name) => name !== 'kind'),
  };
}

function kindAt(path: string): Kind | undefined {
  const segment = path.slice('/api/'.length);
  return isKind(segment) ? segment : undefined;
}
