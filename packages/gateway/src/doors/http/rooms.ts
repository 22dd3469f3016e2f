/** The rooms, and the entries in each (PROTOCOL.md section 5). */
import {
  GatewayError,
  say,
  type Room,
  type RoomDocument,
  type RoomsDocument,
  type Tongue,
} from '@open-presence/protocol';

import { facet } from '../../log/facet.ts';
import type { FeedForm } from '../feeds/addresses.ts';
import { answer, inTongue, json, JSON_TYPE, REVALIDATE } from './answer.ts';
import { tongueFor, type Exchange, type Handler, type House } from './exchange.ts';
import { feedAt, listing, type Place } from './listing.ts';
import { problem, quoted } from './problem.ts';

export async function rooms(exchange: Exchange): Promise<void> {
  const { house, request } = exchange;
  const tongue = tongueFor(request);
  const tag = worded(house, tongue);
  const document: RoomsDocument = { rooms: roomDocuments(house, tongue) };
  const headers = { ...REVALIDATE, ...inTongue(tongue) };
  await answer(exchange, { status: 200, type: JSON_TYPE, headers, body: json(document), tag });
}

/** The tag of an answer made of the log and of words. */
export function worded(house: House, tongue: Tongue | undefined, more = ''): string {
  const { log, edition } = house;
  return `W/"${log.name.slice(0, 8)}-${log.head()}-${edition}-${tongue ?? 'shown'}${more}"`;
}

export function roomDocuments(house: House, tongue: Tongue | undefined): RoomDocument[] {
  return house.language.rooms.map((room) => roomDocument(house, room, tongue));
}

function roomDocument({ log }: House, room: Room, tongue: Tongue | undefined): RoomDocument {
  const tallies = log.tally().filter((tally) => tally.room === room.slug);
  const latest = tallies.map((tally) => tally.latest).toSorted((a, b) => b.seq - a.seq)[0];
  return {
    slug: room.slug,
    title: say(room.title, tongue),
    description: say(room.description, tongue),
    path: `/api/rooms/${room.slug}`,
    entries: tallies.reduce((sum, { count }) => sum + count, 0),
    latest: latest === undefined ? null : new Date(latest.time).toISOString(),
  };
}

export function room(exchange: Exchange): void | Promise<void> {
  const place = roomIn(exchange);
  return place === undefined ? noSuchRoom(exchange) : listing(exchange, place);
}

export function feedOfRoom(form: FeedForm): Handler {
  return (exchange) => {
    const place = roomIn(exchange);
    return place === undefined ? noSuchRoom(exchange) : feedAt(exchange, place, form);
  };
}

function roomIn({ house, params }: Exchange): Place | undefined {
  const slug = params['slug'] ?? '';
  const found = house.language.rooms.find((one) => one.slug === slug);
  if (found === undefined) return undefined;
  return {
    path: `/api/rooms/${slug}`,
    facets: [facet('room', slug)],
    kinds: true,
    subject: `room "${slug}"`,
    title: (_, tongue) => say(found.title, tongue),
    room: (tongue) => roomDocument(house, found, tongue),
  };
}

function noSuchRoom(exchange: Exchange): Promise<void> {
  const slug = exchange.params['slug'] ?? '';
  const known = exchange.house.language.rooms.map((one) => one.slug);
  const detail = `Cannot read room ${quoted(slug)}: no room has this slug. There are ${known.join(', ')}.`;
  const error = new GatewayError('unknown-room', detail, { known });
  return problem(exchange, error, { status: 404 });
}
