/**
 * The REST door: the resources of the interface as HTTP and JSON.
 *
 * Owns which resource answers at which path, and in which forms; refuses to know stores and other
 * protocols. Upholds PROTOCOL.md sections 2 to 16.
 */
import { EVERYTHING, FILTER_MEMBERS, KINDS, type Kind } from '@open-presence/protocol';

import type { Handler, RequestContext, StartupContext } from '../../http/context.ts';
import { takenNames } from '../../http/parameters/parameter-check.ts';
import { EVENT_STREAM, type Representation } from '../../http/routing/door.ts';
import { REFUSED_BY_STREAMS } from '../../intake/parameter-faults.ts';
import { CATCH_UP } from '../../operations/catch-up/catch-up-document.ts';
import { CATCH_UP_PARAMETERS } from '../../operations/catch-up/read-catch-up.ts';
import {
  everythingScope,
  kindScope,
  repliesScope,
  roomScope,
  type ScopeResolver,
} from '../../operations/listing-scope.ts';
import type { DoorContext, DoorHandler, ProtocolDoor } from '../context.ts';
import { LISTING_PARAMETERS } from '../listing-parameters.ts';
import { catchUpIn, MARKDOWN } from './catch-up.ts';
import { contribute, contributeFast } from './contribute.ts';
import { discover, rooms, status } from './discover.ts';
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
import { say } from './say-by-get.ts';
import { search } from './search.ts';
import { withheld } from './withheld.ts';

const home = (context: RequestContext<StartupContext>): Promise<void> => status(context, 'Accept');

const JSON_TYPE = 'application/json';
/** A listing can give each entry further members. Feeds and streams have entries as they were stored. */
const LISTED = [...LISTING_PARAMETERS, 'withheld', 'with'];
const ONE_KIND_PARAMETERS = LISTED.filter((name) => name !== 'kind');

const IN_BODY = 'in a POST it is a member of the body';
/** Members of bodies, by any of these names, would be lost in the query of a `POST`. */
const MEMBERS = ['text', 'consciousness_type', 'room', ...Object.values(FILTER_MEMBERS).flat()];
const POST_PARAMETERS = takenNames(
  ['idempotency-key', 'as', 'page'],
  Object.fromEntries(MEMBERS.map((name) => [name, IN_BODY])),
);

const EVENT_PARAMETERS = [...LISTING_PARAMETERS, 'withheld'].filter(
  (name) => name !== 'order' && !(name in REFUSED_BY_STREAMS),
);

const SEARCH_PARAMETERS = [...LISTING_PARAMETERS, 'skip'];

export const restDoor: ProtocolDoor = {
  routes: [
    {
      path: '/',
      get: [{ type: JSON_TYPE, handle: home, taken: takenNames(['as']) }],
      whileStarting: status,
      instead: insteadOnStatus,
    },
    {
      path: '/api',
      get: json(status),
      whileStarting: status,
      instead: insteadOnStatus,
      description: { id: 'status', parameters: ['as'] },
    },
    ...KINDS.map((kind) => ({
      path: `/api/${kind}`,
      get: listingForms(kindScope(kind), kind),
      post: contribute(kind),
      // A first contact is answered in the caller's language.
      ...(kind === 'resonance' ? {} : { fastPost: contributeFast(kind) }),
      postParameters: POST_PARAMETERS,
      instead: insteadOn(),
      description: {
        id: `list${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
        parameters: ONE_KIND_PARAMETERS,
        fixed: ['kind'],
      } as const,
    })),
    {
      path: '/api/rooms',
      get: json(rooms),
      instead: insteadOnEntries,
      description: { id: 'rooms', parameters: ['as'] },
    },
    {
      path: '/api/rooms/{slug}',
      get: listingForms(roomScope),
      instead: insteadOnRoom,
      description: { id: 'room', parameters: LISTED },
    },
    {
      path: EVERYTHING,
      get: listingForms(everythingScope),
      instead: insteadOnEntries,
      description: { id: 'entries', parameters: LISTED },
    },
    {
      path: '/api/entries/{id}',
      get: json(oneEntry),
      instead: insteadOnReplies,
      description: { id: 'entry', parameters: ['with', 'as'] },
    },
    {
      path: '/api/entries/{id}/replies',
      get: listingForms(repliesScope),
      instead: insteadOnReplies,
      description: { id: 'replies', parameters: LISTED },
    },
    {
      path: '/api/search',
      get: json(search),
      description: { id: 'search', parameters: SEARCH_PARAMETERS, required: ['q'] },
    },
    {
      path: '/api/presence',
      get: json(presence),
      description: { id: 'presence', parameters: ['limit', 'room', 'as'] },
    },
    {
      path: CATCH_UP,
      get: [
        { type: JSON_TYPE, handle: catchUpIn('json') },
        { type: MARKDOWN, handle: catchUpIn('markdown') },
      ],
      instead: insteadOnEntries,
      description: {
        id: 'catchUp',
        parameters: [...CATCH_UP_PARAMETERS, 'as'],
        required: ['identity'],
      },
    },
    {
      path: '/api/events',
      get: [eventStream(everythingScope)],
      instead: insteadOnEntries,
      description: {
        id: 'events',

        parameters: EVENT_PARAMETERS,
        fixed: ['order'],
      },
    },
    {
      path: '/api/log',
      get: [
        { type: 'application/x-ndjson', handle: readLog },
        {
          type: EVENT_STREAM,
          handle: events(logScope, CHAIN_FRAMES),
          onlyIfNamed: true,
        },
      ],
      instead: insteadOnEntries,
      description: { id: 'log', parameters: ['after', 'limit', 'as'] },
    },
    {
      path: '/api/log/head',
      get: json(logHead),
      instead: insteadOnEntries,
      description: { id: 'logHead', parameters: ['as'] },
    },
    {
      path: '/api/withheld',
      get: [
        ...json(withheld('json')),
        { type: 'application/x-ndjson', handle: withheld('ndjson') },
      ],
      instead: insteadOn(),
      description: { id: 'withheld', parameters: ['order', 'limit', 'after', 'before', 'as'] },
    },
    {
      path: '/api/discover',
      get: json(discover),
      description: { id: 'discover', parameters: ['as'] },
    },
    {
      path: '/api/say/{kind}',
      get: [{ type: JSON_TYPE, handle: say }],
      storesByGet: true,
      instead: insteadOnSay,
      description: { id: 'say' },
    },
  ],
};

function json(
  handle: DoorHandler | Handler<StartupContext>,
): readonly Representation<DoorContext>[] {
  return [{ type: JSON_TYPE, handle }];
}

/** The forms of a listing; other doors may add more. `kind`: of an entry that is stored there. */
function listingForms(
  scopeOf: ScopeResolver,
  kind: Kind = 'garden',
): readonly Representation<DoorContext>[] {
  const forms: readonly Representation<DoorContext>[] = [
    { type: JSON_TYPE, handle: listing(scopeOf, 'json') },
    { type: 'application/x-ndjson', handle: listing(scopeOf, 'ndjson') },
    { ...eventStream(scopeOf), onlyIfNamed: true },
  ];
  const store = `to store an entry, POST it to /api/${kind}, or GET /api/say/${kind} with its members as parameters`;
  const refused = { 'idempotency-key': store };
  return forms.map((form) => ({ ...form, refused: { ...form.refused, ...refused } }));
}

function eventStream(scopeOf: ScopeResolver): Representation<DoorContext> {
  const handle = events(scopeOf, ENTRY_FRAMES);
  return { type: EVENT_STREAM, handle, refused: REFUSED_BY_STREAMS };
}
