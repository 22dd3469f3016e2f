/** One entry, and the entries that answer it (PROTOCOL.md section 9). */
import { GatewayError, say, seqOfId } from '@open-presence/protocol';

import { facet } from '../../log/facet.ts';
import type { Entry } from '../../log/log.ts';
import type { FeedForm } from '../feeds/addresses.ts';
import { titled } from '../feeds/item.ts';
import { encodingOf, hasTag } from './accept.ts';
import { answer, COMMON, encodedAs, JSON_TYPE, tagged, vary } from './answer.ts';
import { isGone, type Exchange, type Handler } from './exchange.ts';
import { feedAt, listing, type Place } from './listing.ts';
import { Outlet } from './outlet.ts';
import { quoted } from './problem.ts';

const HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable', ...vary() };

export async function oneEntry(exchange: Exchange): Promise<void> {
  const entry = await entryOf(exchange);
  const tag = `"${entry.stamp.id}"`;
  if (entry.text === undefined) await stream(exchange, entry, tag);
  else {
    const { text: body } = entry;
    await answer(exchange, { status: 200, type: JSON_TYPE, headers: HEADERS, body, tag });
  }
}

export function replies(exchange: Exchange): void | Promise<void> {
  return listing(exchange, repliesTo(exchange));
}

export function feedOfReplies(form: FeedForm): Handler {
  return (exchange) => feedAt(exchange, repliesTo(exchange), form);
}

function repliesTo({ params }: Exchange): Place {
  const id = params['id'] ?? '';
  return {
    path: `/api/entries/${encodeURIComponent(id)}/replies`,
    facets: [facet('inReplyTo', id)],
    kinds: true,
    subject: 'the replies',
    title: ({ labels }, tongue) => `${say(labels.replies, tongue)} ${titled(id)}`,
  };
}

async function entryOf({ house, params }: Exchange): Promise<Entry> {
  const id = params['id'] ?? '';
  const seq = seqOfId(id);
  const entry = seq === undefined ? undefined : await house.log.entry(seq);
  if (entry?.stamp.id === id.toLowerCase()) return entry;
  const detail = `Cannot read entry ${quoted(id)}: there is none with this id. Ids are in the entries themselves, as "id".`;
  throw new GatewayError('not-found', detail);
}

async function stream(exchange: Exchange, entry: Entry, tag: string): Promise<void> {
  const { request, response } = exchange;
  const encoding = encodingOf(request.headers['accept-encoding']);
  const headers = { ...tagged(tag, encoding), ...HEADERS, ...COMMON };
  if (hasTag(request.headers['if-none-match'], headers.ETag)) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  const length = { 'Content-Length': String(entry.size) };
  response.writeHead(200, {
    'Content-Type': JSON_TYPE,
    ...(encoding === undefined ? length : encodedAs(encoding)),
    ...headers,
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const outlet = new Outlet(response, encoding);
  for await (const piece of entry.pieces()) if (!(await outlet.write(piece))) return;
  if (!isGone(exchange)) await outlet.end();
}
