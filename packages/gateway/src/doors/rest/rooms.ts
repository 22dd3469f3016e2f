/** `GET /api/rooms` (PROTOCOL.md section 5). */
import type { Locale, RoomsDocument } from '@open-presence/protocol';

import { sendResponse, jsonBody } from '../../http/response/response.ts';
import { contentLanguage, JSON_TYPE, NO_CACHE } from '../../http/response/headers.ts';
import { notesIn } from '../../http/parameters/parameter-check.ts';
import { localeFor } from '../../http/context.ts';
import { roomDocuments } from '../../operations/rooms.ts';
import type { Seq } from '../../log/log.ts';
import type { DoorContext, DoorRequest } from '../context.ts';

export async function rooms(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  const locale = localeFor(request);
  const tag = textTag(app, app.log.head(), locale);
  const document: RoomsDocument = { ...notesIn(request), rooms: roomDocuments(app, locale) };
  const headers = { ...NO_CACHE, ...contentLanguage(locale) };
  await sendResponse(context, {
    status: 200,
    type: JSON_TYPE,
    headers,
    body: jsonBody(document),
    tag,
  });
}

/**
 * The tag of a response that is made of the log's state and texts of the language file. `head` must have been
 * read before that state.
 */
export function textTag(
  { log, languageHash }: Pick<DoorContext, 'log' | 'languageHash'>,
  head: Seq,
  locale: Locale | undefined,
  suffix = '',
): string {
  return `W/"${log.id.slice(0, 8)}-${head}-${languageHash}-${locale ?? 'shown'}${suffix}"`;
}
