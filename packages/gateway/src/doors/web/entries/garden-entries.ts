/**
 * `GET /web/garden`: what the picture of the garden needs of entries, a few hundred bytes of each.
 * Takes the parameters of a listing. Private to the pages.
 */
import type { GardenEntry } from '@open-presence/web/page-data';

import { abortOnDisconnect } from '../../../http/context.ts';
import { queryOf } from '../../../http/parameters/query.ts';
import { JSON_TYPE, NO_STORE } from '../../../http/response/headers.ts';
import { jsonBody, sendResponse } from '../../../http/response/response.ts';
import { parseSelection } from '../../../intake/selection.ts';
import type { Entry, Log, Selection } from '../../../log/log.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import type { DoorRequest } from '../../context.ts';
import { cutText, pageEntryOf } from './page-entry.ts';
import { plainText } from './text-blocks.ts';

/** Entries of a picture. */
export const MAX_PLANTS = 600;
/** UTF-16 code units of a text: a plant grows from them. */
const MAX_TEXT = 240;

export async function sendGardenEntries(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  const { grammar, log } = app;
  using caller = abortOnDisconnect(context);
  const selection = await parseSelection(queryOf(request), { ...everythingScope(), grammar, log });
  const body = jsonBody(await readGardenEntries(log, { ...selection, signal: caller.signal }));
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers: NO_STORE, body });
}

export async function readGardenEntries(log: Log, selection: Selection): Promise<GardenEntry[]> {
  const limit = Math.min(selection.limit ?? MAX_PLANTS, MAX_PLANTS);
  return await Array.fromAsync(log.readEntries({ ...selection, limit }), gardenEntryOf);
}

async function gardenEntryOf(entry: Entry): Promise<GardenEntry> {
  const { id, seq, kind, author, inReplyTo, seeking = [], text, blocks } = await pageEntryOf(entry);
  return {
    id,
    seq,
    kind,
    time: entry.metadata.time,
    size: entry.size,
    text: cutText(text === '' ? seeking.join(', ') : plainText(text, blocks), MAX_TEXT),
    author,
    inReplyTo,
  };
}
