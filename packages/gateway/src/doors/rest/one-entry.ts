/** One entry, whole or a range of its bytes (PROTOCOL.md section 9). */
import { GatewayError, entryPath, pageLinks } from '@open-presence/protocol';

import { streamEncoding } from '../../http/negotiation.ts';
import { requestedRange, type ByteRange } from '../../http/response/byte-range.ts';
import { queryOf } from '../../http/parameters/query.ts';
import {
  contentEncoding,
  COMMON_HEADERS,
  etag,
  JSON_TYPE,
  NO_CACHE,
  vary,
  type Headers,
} from '../../http/response/headers.ts';
import { sendNotModified } from '../../http/response/not-modified.ts';
import { sendProblem } from '../../http/response/problem.ts';
import { sendResponse } from '../../http/response/response.ts';
import { sendBody } from '../../http/response/response-writer.ts';
import type { Entry, Log } from '../../log/log.ts';
import { findEntry } from '../../operations/find-entry.ts';
import { entryVersion } from '../../operations/read-version.ts';
import { ReplyCounter, wantsReplies } from '../../operations/replies.ts';
import type { DoorRequest } from '../context.ts';

/** Caches ask each time: what was said may be taken away. */
const HEADERS = { 'Accept-Ranges': 'bytes', ...NO_CACHE, ...vary('Accept') };

function validatorsOf(entry: FoundEntry): { tag: string; headers: Headers } {
  const { id } = entry.metadata;
  const { replies = '' } = entry;
  return {
    tag: `"${id}${replies === '' ? '' : `-${replies}`}${entryVersion(entry)}"`,
    headers: { ...HEADERS, Link: pageLinks(entryPath(id)).join(', ') },
  };
}

/** The entry with the members that an answer adds. A large entry is sent as it is stored. */
interface FoundEntry extends Entry {
  readonly replies?: number;
}

async function withReplies(log: Log, entry: Entry): Promise<FoundEntry> {
  const counter = new ReplyCounter(log);
  const counted = await counter.count(entry);
  if (counted === undefined) return entry;
  const { text } = counted;
  return {
    ...entry,
    ...counted,
    size: text.length,
    async *chunks(from = 0): AsyncGenerator<Uint8Array> {
      yield text.subarray(from);
    },
  };
}

export async function oneEntry(context: DoorRequest): Promise<void> {
  const { log } = context.app;
  const stored = await findEntry(log, context.params['id'] ?? '', 'exact');
  const entry = wantsReplies(queryOf(context.request)) ? await withReplies(log, stored) : stored;
  const { text: body } = entry;
  const { tag, headers } = validatorsOf(entry);
  const range = requestedRange(context.request, entry.size, tag);
  if (range === 'unsatisfiable') await sendUnsatisfiable(context, entry);
  else if (range !== undefined) await sendRange(context, entry, range);
  else if (body === undefined) await streamEntry(context, entry);
  else await sendResponse(context, { status: 200, type: JSON_TYPE, headers, body, tag });
}

async function streamEntry(context: DoorRequest, entry: FoundEntry): Promise<void> {
  const { tag, headers: own } = validatorsOf(entry);
  const { request, response } = context;
  const encoding = streamEncoding(request);
  const headers = { ...etag(tag, encoding), ...own, ...COMMON_HEADERS };
  if (sendNotModified(context, headers.ETag, headers)) return;
  const length = { 'Content-Length': String(entry.size) };
  response.writeHead(200, {
    'Content-Type': JSON_TYPE,
    ...(encoding === undefined ? length : contentEncoding(encoding)),
    ...headers,
  });
  await sendBody(context, encoding, entry.chunks());
}

/** Never compressed: a range is one of the bytes of the plain entry, whose tag it has. */
async function sendRange(context: DoorRequest, entry: FoundEntry, range: ByteRange): Promise<void> {
  const { start, end } = range;
  const { tag, headers: own } = validatorsOf(entry);
  const headers = { ETag: tag, ...own, ...COMMON_HEADERS };
  if (sendNotModified(context, headers.ETag, headers)) return;
  context.response.writeHead(206, {
    'Content-Type': JSON_TYPE,
    'Content-Length': String(end - start),
    'Content-Range': `bytes ${start}-${end - 1}/${entry.size}`,
    ...headers,
  });
  await sendBody(context, undefined, chunksOf(entry, range));
}

async function* chunksOf(
  entry: Entry,
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array, void, undefined> {
  let left = end - start;
  for await (const chunk of entry.chunks(start)) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}

async function sendUnsatisfiable(context: DoorRequest, { size }: Entry): Promise<void> {
  const detail = `"Range" must start before the end of the entry, which has ${size} bytes, as in "Range: bytes=0-${size - 1}"`;
  const error = new GatewayError(
    'invalid-parameter',
    `Cannot send this range of the entry: ${detail}.`,
    { faults: [{ parameter: 'Range', detail }] },
    416,
  );
  await sendProblem(context, error, { 'Content-Range': `bytes */${size}` });
}
