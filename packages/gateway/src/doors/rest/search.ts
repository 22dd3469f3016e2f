/** `GET /api/search` (PROTOCOL.md section 14): one result a line, each an entry and a snippet. */
import { entryHead, pageLinks, portableJson } from '@open-presence/protocol';

import { COMMON_HEADERS, NO_CACHE, vary } from '../../http/response/headers.ts';
import { bufferOrStream } from '../../http/response/buffer-or-stream.ts';
import { abortOnDisconnect } from '../../http/context.ts';
import { notesPart } from '../../http/parameters/parameter-check.ts';
import { queryOf } from '../../http/parameters/query.ts';
import { sendNotModified } from '../../http/response/not-modified.ts';
import type { Entry, Log } from '../../log/log.ts';
import {
  matchesOf,
  type Match,
  nextResultsPath,
  resultNotes,
  SEARCH_SCOPE,
  searchRequest,
  snippetOf,
  type SearchRequest,
} from '../../operations/search.ts';
import { readVersion } from '../../operations/read-version.ts';
import type { DoorRequest } from '../context.ts';

/** Results have only the gateway's members of larger entries, in bytes. */
const MAX_ENTRY_SIZE = 64 * 1024;

const EXAMPLE = `${SEARCH_SCOPE.path}?q=garden`;

const HEADERS = {
  ...NO_CACHE,
  ...vary('Accept'),
  Link: pageLinks(SEARCH_SCOPE.path).join(', '),
};

export async function search(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  using caller = abortOnDisconnect(context);
  const options = { example: EXAMPLE, signal: caller.signal };
  const search = await searchRequest(app, queryOf(request), options);
  const version = `${search.head}-${search.watermark}${readVersion(app.log)}`;
  const tag = `W/"${app.log.id.slice(0, 8)}-${version}-search"`;
  if (sendNotModified(context, tag, { ETag: tag, ...HEADERS, ...COMMON_HEADERS })) return;
  await bufferOrStream(context, { chunks: documentOf(context, search), headers: HEADERS, tag });
}

async function* documentOf(
  { app: { log }, request }: DoorRequest,
  search: SearchRequest,
): AsyncGenerator<Buffer, void, undefined> {
  const { selection, head, watermark } = search;
  const matches = matchesOf(log, search);
  let last: Match | undefined;
  try {
    let step = await matches.next();
    const first = step.done === true ? undefined : step.value;
    const noted = notesPart(request, resultNotes(search, first));
    yield Buffer.from(`{${noted}"results":[\n`);
    for (; step.done !== true; step = await matches.next()) {
      const separator = last === undefined ? '' : ',\n';
      yield await resultOf(log, step.value, selection, separator);
      last = step.value;
    }
    const next = JSON.stringify(nextResultsPath(search, step.value, last));
    const newline = first === undefined ? '' : '\n';
    const position = `"head":${head},"log":"${log.id}","known":${watermark}`;
    const rankedFrom = first?.rankedFrom === undefined ? '' : `"rankedFrom":${first.rankedFrom},`;
    yield Buffer.from(`${newline}],${position},${rankedFrom}"next":${next}}\n`);
  } finally {
    await matches.return({ last: undefined, more: false });
  }
}

async function resultOf(
  log: Log,
  entry: Entry,
  selection: SearchRequest['selection'],
  separator: string,
): Promise<Buffer> {
  const snippet = portableJson(await snippetOf(log, entry, selection));
  const whole = entry.text !== undefined && entry.size <= MAX_ENTRY_SIZE;
  return Buffer.concat([
    Buffer.from(`${separator}{"entry":`),
    whole ? entry.text : Buffer.from(`${entryHead(entry.metadata)}}`),
    Buffer.from(`,"snippet":${snippet}}`),
  ]);
}
