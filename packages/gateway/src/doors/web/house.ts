/** The page `/`: the house with all rooms. */
import { hash } from 'node:crypto';

import { FEED_FORMS, FEED_TYPES, localize, SHORT_FEED_PATHS } from '@open-presence/protocol';
import type { Shell } from '@open-presence/web/page-data';

import { newestPresent } from '../../operations/who-is-here.ts';
import { roomDocuments } from '../../operations/rooms.ts';
import type { DoorRequest } from '../context.ts';
import { houseGuide } from './guide.ts';
import type { PageContent } from './page-route.ts';

const MAX_HERE = 24;

/** Changes with who is here, and where. */
export function versionOf({ app }: DoorRequest): string {
  const here = app.presence.list(MAX_HERE).map(({ identity, room }) => [identity, room]);
  return hash('sha256', JSON.stringify(here), 'base64url');
}

export async function createPage(context: DoorRequest, shell: Shell): Promise<PageContent> {
  const { app } = context;
  const { labels, invitation } = app.language;
  const { locale } = shell;
  const here = await newestPresent(app, { head: app.log.head(), limit: MAX_HERE });
  const title = localize(labels.everything, locale);
  return {
    data: {
      page: 'house',
      shell,
      title: shell.service,
      description: localize(invitation, locale),
      feeds: FEED_FORMS.map((form) => {
        return { title, type: FEED_TYPES[form], href: SHORT_FEED_PATHS[form] };
      }),
      invitation: localize(invitation, locale),
      rooms: roomDocuments(app, locale).map(({ latest, ...room }) => ({
        slug: room.slug,
        title: room.title,
        description: room.description,
        entries: room.entries,
        ...(latest === null ? {} : { latest }),
        here: here.filter((visitor) => visitor.room === room.slug),
      })),
      here,
    },
    options: { guide: houseGuide(context, shell) },
  };
}
