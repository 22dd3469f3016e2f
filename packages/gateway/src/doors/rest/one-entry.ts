/** One entry, and the entries that answer it (PROTOCOL.md section 9). */
import { type FeedForm, GatewayError, localize, seqOfId } from '@open-presence/protocol';

import { facet } from '../../log/facet.ts';
import type { Entry } from '../../log/log.ts';
import { titled } from '../feeds/item.ts';
import { encodingOf, hasTag } from '../../http/negotiation.ts';
import { answer, COMMON, encodedAs, JSON_TYPE, tagged, vary } from '../../http/answers.ts';
import { isGone, type RequestContext, type Handler } from '../../http/context.ts';
import { feedAt, listing, type ListingScope } from './listing.ts';
import { ResponseWriter } from '../../http/response-writer.ts';
import { quoted } from '../../http/problem.ts';

const HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable', ...vary() };

export async function oneEntry(context: RequestContext): Promise<void> {
  const entry = await entryOf(context);
  const tag = `"${entry.stamp.id}"`;
  if (entry.text === undefined) await stream(context, entry, tag);
  else {
    const { text: body } = entry;
    await answer(context, { status: 200, type: JSON_TYPE, headers: HEADERS, body, tag });
  }
}

export function replies(context: RequestContext): void | Promise<void> {
  return listing(context, repliesTo(context));
}

export function feedOfReplies(form: FeedForm): Handler {
  return (context) => feedAt(context, repliesTo(context), form);
}

function repliesTo({ params }: RequestContext): ListingScope {
  const id = params['id'] ?? '';
  return {
    path: `/api/entries/${encodeURIComponent(id)}/replies`,
    facets: [facet('inReplyTo', id)],
    kinds: true,
    subject: 'the replies',
    title: ({ labels }, locale) => `${localize(labels.replies, locale)} ${titled(id)}`,
  };
}

async function entryOf({ app, params }: RequestContext): Promise<Entry> {
  const id = params['id'] ?? '';
  const seq = seqOfId(id);
  const entry = seq === undefined ? undefined : await app.log.entry(seq);
  if (entry?.stamp.id === id.toLowerCase()) return entry;
  const detail = `Cannot read entry ${quoted(id)}: there is none with this id. Ids are in the entries themselves, as "id".`;
  throw new GatewayError('not-found', detail);
}

async function stream(context: RequestContext, entry: Entry, tag: string): Promise<void> {
  const { request, response } = context;
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
  const writer = new ResponseWriter(response, encoding);
  for await (const piece of entry.chunks()) if (!(await writer.write(piece))) return;
  if (!isGone(context)) await writer.end();
}
