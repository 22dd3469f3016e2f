/** The page `/rooms/{slug}`: what is said in a room. */
import { isKind } from '@open-presence/protocol';
import type { Shell } from '@open-presence/web/page-data';

import { queryOf } from '../../../http/parameters/query.ts';
import { findRoom, roomDocument } from '../../../operations/rooms.ts';
import type { DoorRequest } from '../../context.ts';
import { cutText } from '../entries/page-entry.ts';
import { readList } from '../entries/entry-list.ts';
import type { PageContent } from '../page-route.ts';
import { roomName } from '../shell.ts';
import { feedsOf } from './feeds.ts';

const MAX_HERE = 24;
const MAX_NAME_LENGTH = 200;

/** Changes with who is here. */
export function versionOf({ app }: DoorRequest): string {
  return String(app.presence.version);
}

export async function createPage(
  { app, request, params }: DoorRequest,
  shell: Shell,
): Promise<PageContent> {
  const found = findRoom(app.language, params['slug'] ?? '');
  const room = roomDocument(app, found, shell.locale);
  const { slug, description } = room;
  const name = roomName(found, shell.locale);
  const { title } = name;
  const address = queryOf(request);
  const kind = address.get('kind') ?? '';
  const identity = address.get('identity') || undefined;
  const filters = { room: slug, kind, identity };
  return {
    data: {
      page: 'room',
      shell,
      title,
      description,
      feeds: feedsOf(room.path, title, { kind, identity }),
      // What is shown beside the room itself changes with each entry, or with the author of the link.
      unlisted: address.size > (address.has('lang') ? 1 : 0) ? true : undefined,
      room: { ...name, description },
      filters: {
        kind: isKind(kind) ? kind : undefined,
        identity: identity && cutText(identity, MAX_NAME_LENGTH),
      },
      here: app.presence
        .list()
        .filter((visitor) => visitor.room === slug)
        .slice(0, MAX_HERE)
        .map((visitor) => cutText(visitor.identity, MAX_NAME_LENGTH)),
      list: await readList(app, { filters, order: 'newest', address }),
    },
  };
}
