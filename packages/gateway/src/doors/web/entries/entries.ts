/** `GET /web/entries/{id}`: one entry as a list shows it, for the script of a page. */
import type { EntryViewOptions } from '@open-presence/web/page-data';
import { renderEntry } from '@open-presence/web/renderer';

import { queryOf } from '../../../http/parameters/query.ts';
import { contentLanguage, NO_CACHE } from '../../../http/response/headers.ts';
import { contentHash, sendResponse } from '../../../http/response/response.ts';
import type { Entry, Log } from '../../../log/log.ts';
import { findEntry } from '../../../operations/find-entry.ts';
import type { DoorRequest } from '../../context.ts';
import { PAGE_TYPE } from '../send-page.ts';
import { shellOf } from '../shell.ts';
import { inContext } from './answers.ts';
import { MAX_WHOLE_TEXT, pageEntryOf } from './page-entry.ts';

export async function sendEntry(context: DoorRequest): Promise<void> {
  const { log } = context.app;
  const shell = shellOf(context);
  const html = htmlOf(
    log,
    await findEntry(log, context.params['id'] ?? ''),
    shell,
    queryOf(context.request).get('view'),
  );
  const body = Buffer.from(await html);
  await sendResponse(context, {
    status: 200,
    type: PAGE_TYPE,
    headers: { ...NO_CACHE, ...contentLanguage(shell.locale) },
    body,
    tag: `"${contentHash(body)}"`,
  });
}

/** `view`: how a list shows the entry. `whole` is the page of the entry, and `above` where its answers are nested. */
export async function htmlOf(
  log: Log,
  entry: Entry,
  shell: ReturnType<typeof shellOf>,
  view: string | null,
): Promise<string> {
  const isWhole = view === 'whole';
  const shown = await pageEntryOf(entry, isWhole ? MAX_WHOLE_TEXT : undefined);
  const [inPlace = shown] = await inContext(log, [shown]);
  const options: EntryViewOptions = {
    showsRoom: view === 'rooms',
    answersAbove: view === 'above',
    isWhole,
  };
  const nested = view === 'above' ? { ...inPlace, answers: [] } : inPlace;
  return renderEntry(nested, shell, options);
}
