/** Visitors who become present by reading (PROTOCOL.md section 13). */
import { queryOf } from '../http/parameters/query.ts';
import { visitorFor } from '../operations/who-is-here.ts';
import type { Visitor } from '../presence/presence.ts';
import type { DoorRequest } from './context.ts';

/** Matches every spelling of the parameter `as`, so that URLs without it are not parsed. */
const AS = /[?&](?:a|%61)(?:s|%73)=/;

/** The visitor that the request names as its reader, with the room that it reads. */
export function readerOf({ app, request, params }: DoorRequest): Visitor | undefined {
  if (!AS.test(request.url ?? '')) return undefined;
  const query = queryOf(request);
  return visitorFor(app, query.get('as'), params['slug'] ?? query.get('room'));
}

/** Makes the reader present if the request names one. */
export function markPresent(context: DoorRequest): void {
  const reader = readerOf(context);
  if (reader !== undefined) context.app.presence.recordRequest(reader);
}
