/** Before a read: its caller becomes present, and it waits for what the caller has seen elsewhere. */
import { addNotes, isUtf8 } from '../http/parameters/parameter-check.ts';
import { queryOf } from '../http/parameters/query.ts';
import { areHeard, namesAsked, notesOnNames } from '../operations/near-visitor.ts';
import { untilSeen } from '../operations/until-seen.ts';
import { visitorFor } from '../operations/who-is-here.ts';
import type { Visitor } from '../presence/presence.ts';
import type { DoorRequest } from './context.ts';

/** Matches every spelling of the parameter `as`, so that URLs without it are not parsed. */
const AS = /[?&](?:a|%61)(?:s|%73)=/;

/** The visitor that the request names as its reader, with the room that it reads. */
export function readerOf({ app, request, params }: DoorRequest): Visitor | undefined {
  if (!AS.test(request.url ?? '')) return undefined;
  const query = queryOf(request);
  const name = query.get('as');
  // Bytes that are not UTF-8 are refused, and are nobody's name.
  if (name?.includes('\ufffd') === true && !isUtf8(request.url ?? '')) return undefined;
  return visitorFor(app, name, params['slug'] ?? query.get('room'));
}

/** Makes the reader present if the request names one (PROTOCOL.md section 13). */
export function markPresent(context: DoorRequest): void {
  const reader = readerOf(context);
  if (reader !== undefined) context.app.presence.recordRequest(reader);
}

/**
 * Matches queries that may name an entry, in every spelling, so that others are not parsed. Excludes `?` from
 * names, so that it takes linear time.
 */
const NAMING = /[?&](?:after|before|inReplyTo|thread|[^=&?%]*%)/;

/**
 * Resolves when the log has the entries that the path and the query name (PROTOCOL.md section 8.7). Undefined if
 * it has them now.
 */
export function untilNamedIsThere({
  app,
  request,
  params,
}: DoorRequest): Promise<void> | undefined {
  const { url = '' } = request;
  const inPath =
    params['id'] === undefined ? undefined : untilSeen(app.log, [['id', params['id']]]);
  return inPath ?? (NAMING.test(url) ? untilSeen(app.log, queryOf(request)) : undefined);
}

/** Parameters that name visitors. At `/api/presence`, the reader's own name is what it asks for. */
const NAMES = /^\/api\/(?!say\/).*[?&](?:identity|to|concerns)=/s;
const OWN_NAME = /^\/api\/presence\?/;

/**
 * Tells a reader who asks for a name that nobody has, but for its spelling. Undefined where there is nothing to
 * look up.
 */
export function noteNames({ app, request }: DoorRequest): Promise<void> | undefined {
  const { url = '' } = request;
  const isPresence = OWN_NAME.test(url);
  if (!isPresence && !NAMES.test(url)) return undefined;
  const query = queryOf(request);
  const names = isPresence ? query.getAll('as') : namesAsked(query);
  if (areHeard(app.log, names)) return undefined;
  return notesOnNames(app, names).then((notes) => addNotes(request, notes));
}
