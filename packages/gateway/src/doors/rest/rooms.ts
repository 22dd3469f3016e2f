/** The rooms, and the entries in each (PROTOCOL.md section 5). */
import {
  type FeedForm,
  GatewayError,
  type Locale,
  localize,
  type Room,
  type RoomDocument,
  type RoomsDocument,
} from '@open-presence/protocol';

import { facet } from '../../log/facet.ts';
import { answer, contentLanguage, json, JSON_TYPE, REVALIDATE } from '../../http/answers.ts';
import {
  localeFor,
  type RequestContext,
  type Handler,
  type AppContext,
} from '../../http/context.ts';
import { feedAt, listing, type ListingScope } from './listing.ts';
import { problem, quoted } from '../../http/problem.ts';

export async function rooms(context: RequestContext): Promise<void> {
  const { app, request } = context;
  const locale = localeFor(request);
  const tag = worded(app, locale);
  const document: RoomsDocument = { rooms: roomDocuments(app, locale) };
  const headers = { ...REVALIDATE, ...contentLanguage(locale) };
  await answer(context, { status: 200, type: JSON_TYPE, headers, body: json(document), tag });
}

/** The tag of an answer made of the log and of words. */
export function worded(app: AppContext, locale: Locale | undefined, more = ''): string {
  const { log, languageHash } = app;
  return `W/"${log.id.slice(0, 8)}-${log.head()}-${languageHash}-${locale ?? 'shown'}${more}"`;
}

export function roomDocuments(app: AppContext, locale: Locale | undefined): RoomDocument[] {
  return app.language.rooms.map((room) => roomDocument(app, room, locale));
}

function roomDocument({ log }: AppContext, room: Room, locale: Locale | undefined): RoomDocument {
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

export function room(context: RequestContext): void | Promise<void> {
  const place = roomIn(context);
  return place === undefined ? noSuchRoom(context) : listing(context, place);
}

export function feedOfRoom(form: FeedForm): Handler {
  return (context) => {
    const place = roomIn(context);
    return place === undefined ? noSuchRoom(context) : feedAt(context, place, form);
  };
}

function roomIn({ app, params }: RequestContext): ListingScope | undefined {
  const slug = params['slug'] ?? '';
  const found = app.language.rooms.find((one) => one.slug === slug);
  if (found === undefined) return undefined;
  return {
    path: `/api/rooms/${slug}`,
    facets: [facet('room', slug)],
    kinds: true,
    subject: `room "${slug}"`,
    title: (_, locale) => localize(found.title, locale),
    room: (locale) => roomDocument(app, found, locale),
  };
}

function noSuchRoom(context: RequestContext): Promise<void> {
  const slug = context.params['slug'] ?? '';
  const known = context.app.language.rooms.map((one) => one.slug);
  const detail = `Cannot read room ${quoted(slug)}: no room has this slug. There are ${known.join(', ')}.`;
  const error = new GatewayError('unknown-room', detail, { known });
  return problem(context, error, { status: 404 });
}
