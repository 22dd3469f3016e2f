/** The rooms, with how many entries each has and when the newest was stored. */
import {
  GatewayError,
  localize,
  quoted,
  type Language,
  type Locale,
  type Room,
  type RoomDocument,
} from '@open-presence/protocol';

import type { RoomCount } from '../log/log.ts';
import type { OperationsContext } from './context.ts';

type RoomsContext = Pick<OperationsContext, 'log' | 'language'>;

export function roomDocuments(app: RoomsContext, locale: Locale | undefined): RoomDocument[] {
  const counts = Map.groupBy(app.log.roomCounts(), ({ room }) => room);
  return app.language.rooms.map((room) => documentOf(room, counts.get(room.slug) ?? [], locale));
}

export function roomDocument(
  { log }: Pick<RoomsContext, 'log'>,
  room: Room,
  locale: Locale | undefined,
): RoomDocument {
  const counts = log.roomCounts().filter((count) => count.room === room.slug);
  return documentOf(room, counts, locale);
}

function documentOf(
  room: Room,
  counts: readonly RoomCount[],
  locale: Locale | undefined,
): RoomDocument {
  const latest = counts.map((count) => count.latest).toSorted((a, b) => b.seq - a.seq)[0];
  return {
    slug: room.slug,
    title: localize(room.title, locale),
    description: localize(room.description, locale),
    path: `/api/rooms/${room.slug}`,
    entries: counts.reduce((sum, { count }) => sum + count, 0),
    latest: latest === undefined ? null : new Date(latest.time).toISOString(),
  };
}

/** Throws `unknown-room` with the status 404. */
export function findRoom({ rooms }: Language, slug: string): Room {
  const room = rooms.find((candidate) => candidate.slug === slug);
  if (room !== undefined) return room;
  const known = rooms.map((candidate) => candidate.slug);
  const detail = `Cannot read room ${quoted(slug)}: no room has this slug. The rooms are ${known.join(', ')}.`;
  throw new GatewayError('unknown-room', detail, { known }, 404);
}
