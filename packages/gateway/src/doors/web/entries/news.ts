/**
 * `GET /web/news`: how much is new since the cursor `after`, by room and for the visitor named by `concerns`.
 * Only the visitor's own device knows these cursors: nothing is stored of them. Private to the pages.
 */
import { queryOf } from '../../../http/parameters/query.ts';
import { NO_STORE, JSON_TYPE } from '../../../http/response/headers.ts';
import { jsonBody, sendResponse } from '../../../http/response/response.ts';
import { parseSelection } from '../../../intake/selection.ts';
import { facet } from '../../../log/facet.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import type { DoorRequest } from '../../context.ts';

/** More entries in an inbox are not counted. */
const MAX_COUNTED = 100;

export async function sendNews(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  const { log, language } = app;
  const parameters = queryOf(request);
  const head = log.head();
  const after = cursorIn(parameters.get('after'), head);
  const read = new Map(
    parameters.getAll('read').map((pair): [string, string | undefined] => {
      const [slug = '', cursor] = pair.split(' ', 2);
      return [slug, cursor];
    }),
  );
  const rooms: Record<string, number> = {};
  for (const { slug } of language.rooms) {
    const from = Math.max(after, cursorIn(read.get(slug), head));
    const [count = 0] = await log.countBetween(facet('room', slug), [from + 1, head + 1]);
    rooms[slug] = count;
  }
  const body = jsonBody({ log: log.id, head, rooms, inbox: await countInbox(context, parameters) });
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers: NO_STORE, body });
}

async function countInbox({ app }: DoorRequest, parameters: URLSearchParams): Promise<number> {
  const name = parameters.get('concerns') ?? '';
  if (name === '') return 0;
  const { log, grammar } = app;
  const after = cursorIn(parameters.get('inbox') ?? parameters.get('after'), log.head());
  const wanted = new URLSearchParams({ concerns: name, after: String(after), order: 'oldest' });
  const selection = await parseSelection(wanted, { ...everythingScope(), grammar, log });
  const entries = log.readEntries({ ...selection, limit: MAX_COUNTED });
  return (await Array.fromAsync(entries, ({ metadata }) => metadata.seq)).length;
}

/** What is no cursor of this log is its head: nothing is new. */
function cursorIn(text: string | null | undefined, head: number): number {
  const cursor = Number(text ?? 0);
  return Number.isSafeInteger(cursor) && cursor >= 0 && cursor <= head ? cursor : head;
}
