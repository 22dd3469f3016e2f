/**
 * The REST door: the resources of the interface over HTTP, as JSON.
 *
 * Owns the paths of the resources and their representations. Refuses to know stores and other
 * protocols. Upholds PROTOCOL.md sections 2 to 16.
 */
import { KINDS } from '@open-presence/protocol';

import type { RequestContext, StartupContext } from '../../http/context.ts';
import { EVENT_STREAM, type Representation } from '../../http/router.ts';
import {
  kindScope,
  repliesScope,
  roomScope,
  type ScopeResolver,
} from '../../operations/listing-scope.ts';
import type { DoorContext, ProtocolDoor } from '../context.ts';
import { contribute } from './contribute.ts';
import { discover } from './discover.ts';
import { allEvents, events } from './events.ts';
import { listing } from './listing.ts';
import { oneEntry } from './one-entry.ts';
import { presence } from './presence.ts';
import { rooms } from './rooms.ts';
import { say } from './say-by-get.ts';
import { search } from './search.ts';
import { status } from './status.ts';

const home = (context: RequestContext<StartupContext>): Promise<void> => status(context, 'Accept');

export const restDoor: ProtocolDoor = {
  routes: [
    { path: '/', get: [{ type: 'application/json', handle: home }], whileStarting: status },
    { path: '/api', get: status, whileStarting: status },
    ...KINDS.map((kind) => {
      return {
        path: `/api/${kind}`,
        get: listingRepresentations(kindScope(kind)),
        post: contribute(kind),
      };
    }),
    { path: '/api/rooms', get: rooms },
    { path: '/api/rooms/{slug}', get: listingRepresentations(roomScope) },
    { path: '/api/entries/{id}', get: oneEntry },
    { path: '/api/entries/{id}/replies', get: listingRepresentations(repliesScope) },
    { path: '/api/search', get: search },
    { path: '/api/presence', get: presence },
    { path: '/api/events', get: [{ type: EVENT_STREAM, handle: allEvents }] },
    { path: '/api/discover', get: discover },
    { path: '/api/say/{kind}', get: say },
  ],
};

/** Other doors may add more representations. */
function listingRepresentations(
  resolveScope: ScopeResolver,
): readonly Representation<DoorContext>[] {
  return [
    { type: 'application/json', handle: listing(resolveScope, 'json') },
    { type: 'application/x-ndjson', handle: listing(resolveScope, 'ndjson') },
    { type: EVENT_STREAM, onlyIfNamed: true, handle: events(resolveScope) },
  ];
}
