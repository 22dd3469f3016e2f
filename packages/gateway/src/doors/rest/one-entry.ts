/** One entry (PROTOCOL.md section 9). */
import { contentEncoding, COMMON_HEADERS, etag, JSON_TYPE, vary } from '../../http/headers.ts';
import { preferredEncoding } from '../../http/negotiation.ts';
import { sendNotModified } from '../../http/not-modified.ts';
import { sendResponse } from '../../http/response.ts';
import { sendBody } from '../../http/response-writer.ts';
import type { Entry } from '../../log/log.ts';
import { findEntry } from '../../operations/find-entry.ts';
import type { DoorRequest } from '../context.ts';

const HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable', ...vary() };

export async function oneEntry(context: DoorRequest): Promise<void> {
  const entry = await findEntry(context.app.log, context.params['id'] ?? '');
  const { text: body, stamp } = entry;
  const tag = `"${stamp.id}"`;
  if (body === undefined) await streamEntry(context, entry, tag);
  else await sendResponse(context, { status: 200, type: JSON_TYPE, headers: HEADERS, body, tag });
}

async function streamEntry(context: DoorRequest, entry: Entry, tag: string): Promise<void> {
  const { request, response } = context;
  const encoding = preferredEncoding(request.headers['accept-encoding']);
  const headers = { ...etag(tag, encoding), ...HEADERS, ...COMMON_HEADERS };
  if (sendNotModified(context, headers.ETag, headers)) return;
  const length = { 'Content-Length': String(entry.size) };
  response.writeHead(200, {
    'Content-Type': JSON_TYPE,
    ...(encoding === undefined ? length : contentEncoding(encoding)),
    ...headers,
  });
  await sendBody(context, encoding, entry.chunks());
}
