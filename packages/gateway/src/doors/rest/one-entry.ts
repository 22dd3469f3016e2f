/** One entry (PROTOCOL.md section 9). */
import { sendResponse } from '../../http/response.ts';
import { COMMON_HEADERS, contentEncoding, JSON_TYPE, etag, vary } from '../../http/headers.ts';
import { isDisconnected } from '../../http/context.ts';
import { preferredEncoding, matchesEtag } from '../../http/negotiation.ts';
import { ResponseWriter } from '../../http/response-writer.ts';
import type { Entry } from '../../log/log.ts';
import { findEntry } from '../../operations/find-entry.ts';
import type { DoorRequest } from '../context.ts';

const HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable', ...vary() };

export async function oneEntry(context: DoorRequest): Promise<void> {
  const entry = await findEntry(context.app.log, context.params['id'] ?? '');
  const tag = `"${entry.stamp.id}"`;
  if (entry.text === undefined) await stream(context, entry, tag);
  else {
    const { text: body } = entry;
    await sendResponse(context, { status: 200, type: JSON_TYPE, headers: HEADERS, body, tag });
  }
}

async function stream(context: DoorRequest, entry: Entry, tag: string): Promise<void> {
  const { request, response } = context;
  const encoding = preferredEncoding(request.headers['accept-encoding']);
  const headers = { ...etag(tag, encoding), ...HEADERS, ...COMMON_HEADERS };
  if (matchesEtag(request.headers['if-none-match'], headers.ETag)) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  const length = { 'Content-Length': String(entry.size) };
  response.writeHead(200, {
    'Content-Type': JSON_TYPE,
    ...(encoding === undefined ? length : contentEncoding(encoding)),
    ...headers,
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const writer = new ResponseWriter(response, encoding);
  for await (const piece of entry.chunks()) if (!(await writer.write(piece))) return;
  if (!isDisconnected(context)) await writer.end();
}
