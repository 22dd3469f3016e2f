/** What the scripts of pages read of entries: batches of a listing, one entry, and long texts in pieces. */
import { GatewayError } from '@open-presence/protocol';

import { abortOnDisconnect, isDisconnected } from '../../../http/context.ts';
import { preferredEncoding } from '../../../http/negotiation.ts';
import { queryOf } from '../../../http/parameters/query.ts';
import { COMMON_HEADERS, JSON_TYPE, NO_CACHE, vary } from '../../../http/response/headers.ts';
import { cachedResponseOf, sendCached } from '../../../http/response/response-cache.ts';
import { jsonBody, sendResponse } from '../../../http/response/response.ts';
import { findEntry } from '../../../operations/find-entry.ts';
import { entryVersion, readVersion } from '../../../operations/read-version.ts';
import { searchWatermarkFor, untilSearchable } from '../../../operations/search-watermark.ts';
import type { DoorRequest } from '../../context.ts';
import { readBatch } from './entry-list.ts';
import { pageEntryOf } from './page-entry.ts';
import { readPiece } from './text-pieces.ts';

/** `GET /web/entries`: takes the parameters of a listing. */
export async function sendBatch(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  const { url = '', headers } = request;
  if (searchWatermarkFor(app.log, url) !== undefined) {
    using caller = abortOnDisconnect(context);
    await untilSearchable(app.log, caller.signal);
  }
  const head = app.log.head();
  const watermark = searchWatermarkFor(app.log, url);
  const encoding = preferredEncoding(headers['accept-encoding']);
  const version = `${watermark ?? ''}${readVersion(app.log)}`;
  const key = `batch ${encoding ?? ''} ${version} ${url}`;
  const tag = `W/"${app.log.id.slice(0, 8)}-${head}-${version}"`;
  const cached =
    app.responseCache.get(key, head) ??
    (await app.responseCache.create(key, head, undefined, async () => {
      const parameters = queryOf(request);
      const last = Math.min(watermark ?? head, head);
      const batch = await readBatch(app, parameters, last);
      const plain = jsonBody(batch);
      const headers = { ETag: tag, ...NO_CACHE, ...vary(), ...COMMON_HEADERS };
      return await cachedResponseOf({ head, tag, type: JSON_TYPE, plain, encoding, headers });
    }));
  if (cached !== undefined && !isDisconnected(context)) sendCached(context, cached);
}

/** `GET /web/entries/{id}`. */
export async function sendEntry(context: DoorRequest): Promise<void> {
  const entry = await findEntry(context.app.log, context.params['id'] ?? '');
  await sendResponse(context, {
    status: 200,
    type: JSON_TYPE,
    headers: { ...NO_CACHE, ...vary() },
    body: jsonBody(await pageEntryOf(entry)),
    tag: `"${entry.metadata.id}${entryVersion(entry)}"`,
  });
}

/** `GET /web/entries/{id}/text` and `/json`: one piece, by its number from 1. */
export async function sendPiece(context: DoorRequest): Promise<void> {
  const { id = '', of } = context.params;
  if (of !== 'text' && of !== 'json') {
    throw new GatewayError('not-found', 'Cannot read pieces: an entry has them as text or json.');
  }
  const entry = await findEntry(context.app.log, id);
  using caller = abortOnDisconnect(context);
  const number = Number(queryOf(context.request).get('part') ?? 1);
  const piece = await readPiece(entry, { of, part: number, signal: caller.signal });
  await sendResponse(context, {
    status: 200,
    type: JSON_TYPE,
    headers: { ...NO_CACHE, ...vary() },
    body: jsonBody(piece),
    tag: `"${id}-${of}${piece.part}${entryVersion(entry)}"`,
  });
}
