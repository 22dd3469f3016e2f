/** The log with its links, and where it is now (PROTOCOL.md section 20). */
import { streamEncoding } from '../../http/negotiation.ts';
import { isDisconnected } from '../../http/context.ts';
import { queryOf } from '../../http/parameters/query.ts';
import {
  COMMON_HEADERS,
  contentEncoding,
  JSON_TYPE,
  NO_CACHE,
  vary,
} from '../../http/response/headers.ts';
import { sendNotModified } from '../../http/response/not-modified.ts';
import { jsonBody, sendResponse } from '../../http/response/response.ts';
import { sendBody } from '../../http/response/response-writer.ts';
import { parseSelection } from '../../intake/selection.ts';
import type { Log, Seq } from '../../log/log.ts';
import { chainLines } from '../../log/resumable-text.ts';
import { checkpointOf } from '../../operations/copy/checkpoint.ts';
import { everythingScope, type ListingScope } from '../../operations/listing-scope.ts';
import { readVersion } from '../../operations/read-version.ts';
import type { DoorRequest } from '../context.ts';
import { FramedText } from './framed-text.ts';

const NOTHING = new Uint8Array(0);

export const logScope = (): ListingScope => ({
  ...everythingScope(),
  path: '/api/log',
  subject: 'the log',
});

export async function readLog(context: DoorRequest): Promise<void> {
  const { app, request, response } = context;
  const { log, grammar } = app;
  const selection = await parseSelection(queryOf(request), { ...logScope(), grammar, log });
  const { after = 0, limit } = selection;
  const head = log.head();
  const opening = jsonBody(checkpointOf(log, after));
  const headers = {
    ETag: tagOf(log, head, '-chain'),
    ...NO_CACHE,
    ...vary('Accept'),
    ...COMMON_HEADERS,
  };
  if (sendNotModified(context, headers.ETag, headers) || isDisconnected(context)) return;
  const encoding = streamEncoding(request);
  response.writeHead(200, {
    'Content-Type': 'application/x-ndjson; charset=utf-8',
    ...contentEncoding(encoding),
    ...headers,
  });
  const range = { after, before: head + 1, ...(limit === undefined ? {} : { limit }) };
  const body = new FramedText(opening, chainLines(log, range), () => NOTHING);
  await sendBody(context, encoding, body);
}

export async function logHead(context: DoorRequest): Promise<void> {
  const { log } = context.app;
  const head = log.head();
  await sendResponse(context, {
    status: 200,
    type: JSON_TYPE,
    headers: { ...NO_CACHE, ...vary() },
    body: jsonBody(checkpointOf(log, head)),
    tag: tagOf(log, head),
  });
}

function tagOf(log: Log, head: Seq, form = ''): string {
  return `W/"${log.id.slice(0, 8)}-${head}${readVersion(log)}${form}"`;
}
