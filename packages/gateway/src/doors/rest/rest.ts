/**
 * The REST door: the resources of the interface as HTTP and JSON.
 *
 * Owns which resource answers at which path, and in which forms; refuses to know stores and other
 * protocols. Upholds PROTOCOL.md sections 2 to 16.
 */
import { EVERYTHING, FILTER_MEMBERS, KINDS, type Kind } from '@open-presence/protocol';

import type { Handler, RequestContext, StartupContext } from '../../http/context.ts';
import { takenNames } from '../../http/parameter-check.ts';
import type {
  Localization,
  ParameterDescription,
  RouteDescription,
} from '../../http/route-description.ts';
import { EVENT_STREAM, type Representation } from '../../http/routing/door.ts';
import { REFUSED_BY_STREAMS } from '../../intake/stream-parameters.ts';
import {
  everythingScope,
  kindScope,
  repliesScope,
  roomScope,
  type ScopeResolver,
} from '../../operations/listing-scope.ts';
import type { DoorContext, DoorHandler, ProtocolDoor } from '../context.ts';
import { LISTING_PARAMETERS } from '../listing-parameters.ts';
import { contribute, contributeSimple } from './contribute.ts';
import { discover } from './discover.ts';
import { CHAIN_FRAMES, ENTRY_FRAMES } from '../event-stream/entry-frames.ts';
import { events } from '../event-stream/events.ts';
import {
  insteadOn,
  insteadOnEntries,
  insteadOnReplies,
  insteadOnRoom,
  insteadOnSay,
  insteadOnStatus,
} from './instead.ts';
import { listing } from './listing.ts';
import { logHead, logScope, readLog } from './log.ts';
import { oneEntry } from './one-entry.ts';
import { presence } from './presence.ts';
import { rooms } from './rooms.ts';
import { say } from './say-by-get.ts';
import { search } from './search.ts';
import { status } from './status.ts';
import { withheld } from './withheld.ts';

const home = (context: RequestContext<StartupContext>): Promise<void> => status(context, 'Accept');

const JSON_TYPE = 'application/json';
const ONE_KIND_PARAMETERS = LISTING_PARAMETERS.filter((name) => name !== 'kind');

const IN_BODY = 'in a POST it is a member of the body';
/** Members of bodies, by any of these names, would be lost in the query of a `POST`. */
const MEMBERS = ['text', 'consciousness_type', 'room', ...Object.values(FILTER_MEMBERS).flat()];
const POST_PARAMETERS = takenNames(
  ['idempotency-key', 'as', 'page'],
  Object.fromEntries(MEMBERS.map((name) => [name, IN_BODY])),
);

const KIND_OR_PRESENCE: ParameterDescription = {
  name: 'kind',
  schema: { type: 'array', items: { type: 'string', enum: [...KINDS, 'presence'] } },
  example: ['garden', 'presence'],
};
const EVENT_PARAMETERS = LISTING_PARAMETERS.filter(
  (name) => name !== 'order' && !(name in REFUSED_BY_STREAMS),
).map((name) => (name === 'kind' ? KIND_OR_PRESENCE : name));

const SEARCH_PARAMETERS: RouteDescription['parameters'] = [
  { name: 'q', required: true },
  {
    name: 'order',
    description: ({ language, text }) => text(language.pages.best),
    schema: { type: 'string', enum: ['best', 'newest', 'oldest'], default: 'best' },
    example: 'best',
  },
  ...LISTING_PARAMETERS.filter((name) => !['order', 'q', 'as', 'wait'].includes(name)),
  'skip',
  'as',
  'wait',
];

export const restDoor: ProtocolDoor = {
  describe: () => import('./openapi.ts'),
  routes: [
    { path: '/', get: json(home, 'Status'), whileStarting: status, instead: insteadOnStatus },
    {
      path: '/api',
      get: json(status, 'Status'),
      whileStarting: status,
      instead: insteadOnStatus,
      description: { id: 'status', parameters: ['as'], untagged: true },
    },
    ...KINDS.map((kind) => ({
      path: `/api/${kind}`,
      get: listingForms(kindScope(kind), 'Listing', kind),
      post: contribute(kind),
      // A first contact is answered in the caller's language.
      ...(kind === 'resonance' ? {} : { simplePost: contributeSimple(kind) }),
      postParameters: POST_PARAMETERS,
      instead: insteadOn(),
      description: {
        id: `list${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
        tag: 'kinds',
        summary: ({ language, text }: Localization) => text(language.kinds[kind].name),
        description: ({ language, text }: Localization) => text(language.kinds[kind].meaning),
        parameters: ONE_KIND_PARAMETERS,
        fixed: ['kind'],
      } as const,
    })),
    {
      path: '/api/rooms',
      get: json(rooms, 'Rooms'),
      instead: insteadOnEntries,
      description: { id: 'rooms', tag: 'rooms', parameters: ['as'] },
    },
    {
      path: '/api/rooms/{slug}',
      get: listingForms(roomScope, 'RoomListing'),
      instead: insteadOnRoom,
      description: { id: 'room', tag: 'rooms', parameters: LISTING_PARAMETERS },
    },
    {
      path: EVERYTHING,
      get: listingForms(everythingScope, 'Listing'),
      instead: insteadOnEntries,
      description: { id: 'entries', tag: 'rooms', parameters: LISTING_PARAMETERS },
    },
    {
      path: '/api/entries/{id}',
      get: json(oneEntry, 'Entry'),
      instead: insteadOnReplies,
      description: { id: 'entry', tag: 'rooms', parameters: ['as'], ranges: true },
    },
    {
      path: '/api/entries/{id}/replies',
      get: listingForms(repliesScope, 'Listing'),
      instead: insteadOnReplies,
      description: { id: 'replies', tag: 'rooms', parameters: LISTING_PARAMETERS },
    },
    {
      path: '/api/search',
      get: json(search, 'Search'),
      description: { id: 'search', tag: 'rooms', parameters: SEARCH_PARAMETERS },
    },
    {
      path: '/api/presence',
      get: json(presence, 'Presence'),
      description: {
        id: 'presence',
        tag: 'here',
        parameters: ['limit', 'room', 'as'],
        untagged: true,
      },
    },
    {
      path: '/api/events',
      get: [eventStream(everythingScope)],
      instead: insteadOnEntries,
      description: {
        id: 'events',
        tag: 'rooms',
        parameters: EVENT_PARAMETERS,
        fixed: ['order'],
        untagged: true,
      },
    },
    {
      path: '/api/log',
      get: [
        { type: 'application/x-ndjson', handle: readLog, content: 'LogLines' },
        {
          type: EVENT_STREAM,
          handle: events(logScope, CHAIN_FRAMES),
          content: 'LogEvents',
          onlyIfNamed: true,
        },
      ],
      instead: insteadOnEntries,
      description: { id: 'log', parameters: ['after', 'limit', 'as'] },
    },
    {
      path: '/api/log/head',
      get: json(logHead, 'Checkpoint'),
      instead: insteadOnEntries,
      description: { id: 'logHead', parameters: ['as'] },
    },
    {
      path: '/api/withheld',
      get: [
        ...json(withheld('json'), 'Withheld'),
        { type: 'application/x-ndjson', handle: withheld('ndjson'), content: 'WithheldLines' },
      ],
      instead: insteadOn(),
      description: { id: 'withheld', parameters: ['order', 'limit', 'after', 'before', 'as'] },
    },
    {
      path: '/api/discover',
      get: json(discover, 'Discovery'),
      description: { id: 'discover', parameters: ['as'] },
    },
    {
      path: '/api/say/{kind}',
      get: [{ type: JSON_TYPE, handle: say }],
      storesByGet: true,
      instead: insteadOnSay,
      description: { id: 'say', paths: KINDS.map((kind) => `/api/say/${kind}`) },
    },
  ],
};

function json(
  handle: DoorHandler | Handler<StartupContext>,
  content: string,
): readonly Representation<DoorContext>[] {
  return [{ type: JSON_TYPE, handle, content }];
}

/** The forms of a listing; other doors may add more. `kind`: of an entry that is stored there. */
function listingForms(
  scopeOf: ScopeResolver,
  content: string,
  kind: Kind = 'garden',
): readonly Representation<DoorContext>[] {
  const forms: readonly Representation<DoorContext>[] = [
    { type: JSON_TYPE, handle: listing(scopeOf, 'json'), content },
    { type: 'application/x-ndjson', handle: listing(scopeOf, 'ndjson'), content: 'Lines' },
    { ...eventStream(scopeOf), onlyIfNamed: true },
  ];
  const store = `to store an entry, POST it to /api/${kind}, or GET /api/say/${kind} with its members as parameters`;
  const refused = { 'idempotency-key': store };
  return forms.map((form) => ({ ...form, refused: { ...form.refused, ...refused } }));
}

function eventStream(scopeOf: ScopeResolver): Representation<DoorContext> {
  const handle = events(scopeOf, ENTRY_FRAMES);
  return { type: EVENT_STREAM, handle, content: 'Events', refused: REFUSED_BY_STREAMS };
}
