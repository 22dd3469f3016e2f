/**
 * `GET /web/garden`: what the picture of the garden needs of entries, a few hundred bytes of each.
 * Takes the parameters of a listing. Private to the pages.
 */
import type { GardenEntries, GardenEntry } from '@open-presence/web/page-data';

import { abortOnDisconnect } from '../../../http/context.ts';
import { queryOf } from '../../../http/parameters/query.ts';
import { JSON_TYPE, NO_STORE } from '../../../http/response/headers.ts';
import { jsonBody, sendResponse } from '../../../http/response/response.ts';
import { parseSelection } from '../../../intake/selection.ts';
import type { Entry, Log, Selection } from '../../../log/log.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import { waitForListing } from '../../../operations/wait.ts';
import type { DoorRequest } from '../../context.ts';
import { cutText, pageEntryOf } from './page-entry.ts';

const MAX_ENTRIES = 1024;
/** UTF-16 code units of a text: a plant grows from them. */
const MAX_TEXT = 240;

export async function sendGardenEntries(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  const parameters = queryOf(request);
  const scope = everythingScope();
  using caller = abortOnDisconnect(context);
  const { signal } = caller;
  await waitForListing(app, scope, parameters, signal);
  const head = app.log.head();
  const selection = await parseSelection(parameters, {
    ...scope,
    grammar: app.grammar,
    log: app.log,
  });
  const entries = await readGardenEntries(app.log, { ...selection, signal });
  const document: GardenEntries = { head, entries };
  const body = jsonBody(document);
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers: NO_STORE, body });
}

export async function readGardenEntries(log: Log, selection: Selection): Promise<GardenEntry[]> {
  const limit = Math.min(selection.limit ?? MAX_ENTRIES, MAX_ENTRIES);
  const found: GardenEntry[] = [];
  for await (const entry of log.readEntries({ ...selection, limit })) {
    found.push(await gardenEntryOf(entry));
  }
  return found;
}

export async function gardenEntryOf(entry: Entry): Promise<GardenEntry> {
  const { id, seq, kind, author, inReplyTo, seeking = [], text } = await pageEntryOf(entry);
  return {
    id,
    seq,
    kind,
    time: entry.metadata.time,
    size: entry.size,
    text: cutText(text === '' ? seeking.join(', ') : text, MAX_TEXT),
    author,
    inReplyTo,
  };
}
