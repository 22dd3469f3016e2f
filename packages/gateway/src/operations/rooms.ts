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

import type { OperationsContext } from './context.ts';

type RoomsContext = Pick<OperationsContext, 'log' | 'language'>;

export function roomDocuments(app: RoomsContext, locale: Locale | undefined): RoomDocument[] {
  return app.language.rooms.map((room) => roomDocument(app, room, locale));
}

export function roomDocument(
  { log }: Pick<RoomsContext, 'log'>,
  room: Room,
  locale: Locale | undefined,
): RoomDocument {
  const tallies = log.roomCounts().filter((tally) => tally.room === room.slug);
  const latest = tallies.map((tally) => tally.latest).toSorted((a, b) => b.seq - a.seq)[0];
  return {
    slug: room.slug,
    title: localize(room.title, locale),
    description: localize(room.description, locale),
    path: `/api/rooms/${room.slug}`,
    entries: tallies.reduce((sum, { count }) => sum + count, 0),
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
