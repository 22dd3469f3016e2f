/** The page `/rooms/{slug}`: what is said in a room. */
import { isKind, SELECTOR_NAMES } from '@open-presence/protocol';
import type { RoomPage, Shell } from '@open-presence/web/page-data';

import { queryOf } from '../../../http/parameters/query.ts';
import { parseSelection } from '../../../intake/selection.ts';
import { roomScope } from '../../../operations/listing-scope.ts';
import { findRoom, roomDocument } from '../../../operations/rooms.ts';
import type { DoorRequest } from '../../context.ts';
import { cutText } from '../entries/page-entry.ts';
import { givenIn, PAGE_SIZE, readList } from '../entries/entry-list.ts';
import type { PageContent } from '../page-route.ts';
import { roomName } from '../shell.ts';
import { feedsOf } from './feeds.ts';

/** One name more says that there are more. */
const MAX_HERE = 24;
const MAX_NAME_LENGTH = 200;
const MAX_FILTERS = 8;

/** Changes with who is here. */
export function versionOf({ app }: DoorRequest): string {
  return String(app.presence.version);
}

/** What selects entries and can be followed live. A room is searched on the page of the search. */
const FILTERS = new Set(['kind', 'since', 'until', ...SELECTOR_NAMES]);

export async function createPage(context: DoorRequest, shell: Shell): Promise<PageContent> {
  const { app, request, params } = context;
  const { language, grammar, log } = app;
  const found = findRoom(language, params['slug'] ?? '');
  const room = roomDocument(app, found, shell.locale);
  const { slug, description } = room;
  const name = roomName(found, shell.locale);
  const { title } = name;
  const address = queryOf(request);
  if (address.has('q')) return searchInstead(shell, slug, address);
  const { order, limit = PAGE_SIZE } = await parseSelection(address, {
    ...roomScope(app, params),
    grammar,
    log,
  });
  const filters = givenIn(address, FILTERS);
  const own = new URLSearchParams([['room', slug], ...filters]);
  return {
    data: {
      page: 'room',
      shell,
      title,
      description,
      feeds: feedsOf(room.path, title, filters),
      // What is shown beside the room itself changes with each entry, or with the author of the link.
      unlisted: address.size > (address.has('lang') ? 1 : 0) ? true : undefined,
      room: { ...name, description },
      filters: shownFilters(filters),
      here: app.presence
        .list()
        .filter((visitor) => visitor.room === slug)
        .slice(0, MAX_HERE + 1)
        .map((visitor) => cutText(visitor.identity, MAX_NAME_LENGTH)),
      list: await readList(app, {
        filters: own,
        order,
        limit: Math.min(limit, PAGE_SIZE),
        address,
      }),
    },
  };
}

/** In the order of the log, as the room is. */
function searchInstead(shell: Shell, room: string, address: URLSearchParams): PageContent {
  const query = new URLSearchParams(address);
  query.set('room', room);
  if (!query.has('order')) query.set('order', 'newest');
  const data = { page: 'error', shell, title: '', description: '', unlisted: true } as const;
  return { status: 303, headers: { Location: `/search?${query.toString()}` }, data };
}

/** The page has links to other kinds, and to everybody. It shows the other filters as they are given. */
function shownFilters(filters: URLSearchParams): RoomPage['filters'] {
  const [kinds, names] = [filters.getAll('kind'), filters.getAll('identity')];
  const [kind = ''] = kinds.length === 1 ? kinds : [];
  const [identity] = names.length === 1 ? names : [];
  const others = [...filters]
    .filter(
      ([name]) =>
        (name !== 'kind' || kind === '') && (name !== 'identity' || identity === undefined),
    )
    .slice(0, MAX_FILTERS)
    .map(([name, value]) => `${name}=${cutText(value, MAX_NAME_LENGTH)}`);
  return {
    ...(isKind(kind) && { kind }),
    ...(identity !== undefined && { identity: cutText(identity, MAX_NAME_LENGTH) }),
    others,
  };
}
