/** `GET /api/withheld`: every case in which something was taken away (PROTOCOL.md section 4.7). */
import { portableJson } from '@open-presence/protocol';

import { bufferOrStream } from '../../http/response/buffer-or-stream.ts';
import { COMMON_HEADERS, JSON_TYPE, NO_CACHE, vary } from '../../http/response/headers.ts';
import { sendNotModified } from '../../http/response/not-modified.ts';
import { notesPart } from '../../http/parameters/parameter-check.ts';
import { queryOf } from '../../http/parameters/query.ts';
import { parseSelection } from '../../intake/selection.ts';
import type { Log } from '../../log/log.ts';
import { nextPagePath, type SentPage } from '../../operations/next-page.ts';
import { untilSeen } from '../../operations/until-seen.ts';
import { withholdingDocument } from '../../operations/withholding/withholdings.ts';
import type { DoorHandler } from '../context.ts';

type Form = 'json' | 'ndjson';

const PATH = '/api/withheld';
const HEADERS = { ...NO_CACHE, ...vary('Accept') };
const TYPES = { json: JSON_TYPE, ndjson: 'application/x-ndjson; charset=utf-8' } as const;

export function withheld(form: Form): DoorHandler {
  return async (context) => {
    const { app, request } = context;
    const { log, grammar } = app;
    const parameters = queryOf(request);
    await untilSeen(log, parameters, log.withheld());
    const count = log.withheld();
    // Its cursors are the numbers of cases.
    const cases = { id: log.id, head: () => count, entry: async () => undefined };
    const scope = { grammar, facets: [], subject: 'what was withheld', log: cases };
    const selection = await parseSelection(parameters, scope);
    const tag = `W/"${log.id.slice(0, 8)}-${count}-withheld-${form}"`;
    if (sendNotModified(context, tag, { ETag: tag, ...HEADERS, ...COMMON_HEADERS })) return;
    const page = { path: PATH, parameters, selection, head: count };
    const chunks =
      form === 'json' ? documentOf(log, page, notesPart(request)) : ndjsonOf(log, page);
    await bufferOrStream(context, { chunks, headers: HEADERS, tag, type: TYPES[form] });
  };
}

async function* documentOf(
  log: Log,
  page: SentPage,
  notes: string,
): AsyncGenerator<Buffer, void, undefined> {
  yield Buffer.from(`{${notes}"withheld":[\n`);
  const last = yield* linesOf(log, page, ',\n');
  const { after = 0, before = Infinity, order } = page.selection;
  const lowest = after + 1;
  const more = order === 'newest' && Math.min(last ?? Infinity, before, page.head + 1) > lowest;
  const next = nextPagePath(page, { last, more });
  const end = `"count":${page.head},"log":"${log.id}","next":${JSON.stringify(next)}}\n`;
  yield Buffer.from(`${last === undefined ? '' : '\n'}],${end}`);
}

async function* ndjsonOf(log: Log, page: SentPage): AsyncGenerator<Buffer, void, undefined> {
  const last = yield* linesOf(log, page, '\n');
  if (last !== undefined) yield Buffer.from('\n');
}

/** Returns the number of the last case. */
async function* linesOf(
  log: Log,
  { selection, head }: SentPage,
  joiner: ',\n' | '\n',
): AsyncGenerator<Buffer, number | undefined, undefined> {
  const before = Math.min(selection.before ?? Infinity, head + 1);
  let last: number | undefined;
  for await (const withholding of log.withholdings({ ...selection, before })) {
    const line = portableJson(withholdingDocument(withholding));
    yield Buffer.from(last === undefined ? line : `${joiner}${line}`);
    last = withholding.number;
  }
  return last;
}
