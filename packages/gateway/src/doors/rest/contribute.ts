/**
 * Saying something (PROTOCOL.md section 7): a body becomes a draft, the draft an entry, and the
 * answer says so once it is durable.
 *
 * The way of a small entry is the one that is gone most, so nothing is done on it that a small
 * entry doesn't need.
 */
import type { IncomingMessage } from 'node:http';

import { entryHead, entryPath, type Kind, type Stamp } from '@open-presence/protocol';

import { parseDraft, hasManyFacets, SMALL_BODY_SIZE } from '../../intake/draft.ts';
import { hashIdempotencyKey } from '../../intake/idempotency-key.ts';
import { preferredEncoding, wantsMinimal } from '../../http/negotiation.ts';
import { sendResponse } from '../../http/response.ts';
import { COMMON_HEADERS, contentLanguage, JSON_TYPE, type Headers } from '../../http/headers.ts';
import { discardBody, readBody } from '../../http/request-body.ts';
import { MIN_COMPRESSED_SIZE } from '../../http/compression.ts';
import { isDisconnected, localeFor, queryOf } from '../../http/context.ts';
import { firstContactBody } from '../../operations/first-contact.ts';
import { sendError } from '../../http/problem.ts';
import { append, draftFor, stampOf, type Contribution } from '../../operations/append.ts';
import type { DoorHandler, DoorRequest } from '../context.ts';

/** Longer entries are not repeated in the answer. */
const REPEATED = 64 * 1024;

/** The handler that takes entries of a kind. */
export function contribute(kind: Kind): DoorHandler {
  return (context) => {
    const { request } = context;
    const failed = (error: unknown): void => sendError(context, error);
    readBody(request, SMALL_BODY_SIZE, {
      onSmall(bytes) {
        storeSmall(context, kind, bytes).catch(failed);
      },
      onLarge(chunks) {
        const taken = storeLarge(context, kind, chunks).catch(failed);
        void taken.then(() => discardBody(request));
      },
    });
  };
}

/** Takes an entry whose body is there already, of whatever length. */
export async function storeBody(context: DoorRequest, kind: Kind, bytes: Buffer): Promise<void> {
  if (bytes.length <= SMALL_BODY_SIZE) await storeSmall(context, kind, bytes);
  else await storeLarge(context, kind, bytes);
}

async function storeSmall(context: DoorRequest, kind: Kind, bytes: Buffer): Promise<void> {
  const { app, request } = context;
  const draft = parseDraft(kind, bytes, app.grammar, keyFor(request));
  if (hasManyFacets(draft)) return storeLarge(context, kind, [bytes]);
  const stamp = stampOf(await app.log.append(draft));
  if (isDisconnected(context)) return;
  const { body } = draft;
  return acknowledge(context, stamp, body instanceof Uint8Array ? body : undefined);
}

async function storeLarge(
  context: DoorRequest,
  kind: Kind,
  body: Contribution['body'],
): Promise<void> {
  const { app, request } = context;
  const { log } = app;
  const draft = await draftFor(app, { kind, body, key: keyFor(request) });
  const stamp = await append(log, draft);
  if (isDisconnected(context)) return;
  // What is long as it was sent may be short as it is kept: spaces at its ends are not.
  const entry = await log.entry(stamp.seq);
  const short = entry !== undefined && entry.size <= REPEATED;
  const copy = (piece: Uint8Array): Buffer => Buffer.from(piece);
  const text = short ? Buffer.concat(await Array.fromAsync(entry.chunks(), copy)) : undefined;
  await acknowledge(context, stamp, text?.subarray(entryHead(stamp).length + 1, -1));
}

function keyFor(request: IncomingMessage): Uint8Array | undefined {
  const header = request.headers['idempotency-key'];
  const asked = request.url?.includes('?') === true;
  if (header === undefined && !asked) return undefined;
  const parameter = asked ? queryOf(request).get('idempotency-key') : null;
  return hashIdempotencyKey(typeof header === 'string' ? header : header?.join(', '), parameter);
}

/**
 * Answers that the entry is kept. Its body, the visitor's members, is undefined where it is too
 * long to be repeated.
 */
function acknowledge(
  context: DoorRequest,
  stamp: Stamp,
  body: Uint8Array | undefined,
): void | Promise<void> {
  const own = entryHead(stamp);
  const minimal = wantsMinimal(context.request.headers['prefer']);
  if (minimal || body === undefined || own.length + body.length + 2 > REPEATED) {
    const applied: Headers = minimal ? { 'Preference-Applied': 'return=minimal' } : {};
    return created(context, stamp, `${own}}`, applied);
  }
  const text = body.length === 0 ? `${own}}` : `${own},${latin1Of(body)}}`;
  return stamp.kind === 'resonance' ? greet(context, stamp, text) : created(context, stamp, text);
}

async function greet(context: DoorRequest, stamp: Stamp, text: string): Promise<void> {
  const locale = localeFor(context.request);
  const entry = Buffer.from(text, 'latin1');
  const body = await firstContactBody(context.app, stamp, { text: entry, locale });
  if (!isDisconnected(context))
    await created(context, stamp, latin1Of(body), contentLanguage(locale));
}

/** Bytes as a string of as many characters: Node sends it with the headers, in one piece. */
function latin1Of({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}

function created(
  context: DoorRequest,
  { id }: Stamp,
  text: string,
  more?: Headers,
): void | Promise<void> {
  const { request, response } = context;
  if (text.length >= MIN_COMPRESSED_SIZE && preferredEncoding(request.headers['accept-encoding'])) {
    const headers = { Location: entryPath(id), ...more };
    const body = Buffer.from(text, 'latin1');
    return sendResponse(context, { status: 201, type: JSON_TYPE, headers, body });
  }
  response.writeHead(201, {
    'Content-Type': JSON_TYPE,
    'Content-Length': text.length,
    Location: entryPath(id),
    ...more,
    ...COMMON_HEADERS,
  });
  response.end(text, 'latin1');
}
