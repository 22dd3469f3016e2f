/**
 * Saying something (PROTOCOL.md section 7): a body becomes a draft, the draft an entry, and the
 * answer says so once it is durable.
 *
 * The way of a small entry is the one that is gone most, so nothing is done on it that a small
 * entry doesn't need.
 */
import type { IncomingMessage } from 'node:http';

import { entryHead, GatewayError, type Kind, type Stamp } from '@open-presence/protocol';

import { parseDraft, hasManyFacets, readDraft, SMALL_BODY_SIZE } from '../../intake/draft.ts';
import { hashIdempotencyKey } from '../../intake/idempotency-key.ts';
import type { AppendResult, Spool } from '../../log/log.ts';
import { encodingOf, wantsMinimal } from '../../http/negotiation.ts';
import { answer, COMMON, contentLanguage, JSON_TYPE, type Headers } from '../../http/answers.ts';
import { drain, readBody } from '../../http/request-body.ts';
import { WORTH_COMPRESSING } from '../../http/compression.ts';
import {
  isGone,
  queryOf,
  localeFor,
  type RequestContext,
  type Handler,
} from '../../http/context.ts';
import { welcomed } from '../../operations/first-contact.ts';
import { fault } from '../../http/problem.ts';

/** Longer entries are not repeated in the answer. */
const REPEATED = 64 * 1024;

/** The handler that takes entries of a kind. */
export function contribute(kind: Kind): Handler {
  return (context) => {
    const { request } = context;
    const failed = (error: unknown): void => fault(context, error);
    readBody(request, SMALL_BODY_SIZE, {
      whole(bytes) {
        takeWhole(context, kind, bytes).catch(failed);
      },
      large(chunks) {
        const taken = takeLarge(context, kind, chunks).catch(failed);
        void taken.then(() => drain(request));
      },
    });
  };
}

/** Takes an entry whose body is there already, of whatever length. */
export async function takeBytes(context: RequestContext, kind: Kind, bytes: Buffer): Promise<void> {
  if (bytes.length <= SMALL_BODY_SIZE) await takeWhole(context, kind, bytes);
  else await takeLarge(context, kind, piecesOf(bytes));
}

/** So that others have their turn in between. */
function* piecesOf(bytes: Buffer): Generator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += SMALL_BODY_SIZE)
    yield bytes.subarray(at, at + SMALL_BODY_SIZE);
}

async function takeWhole(context: RequestContext, kind: Kind, bytes: Buffer): Promise<void> {
  const { app, request } = context;
  const draft = parseDraft(kind, bytes, app.grammar, keyFor(request));
  if (hasManyFacets(draft)) return takeLarge(context, kind, [bytes]);
  const stamp = stampOf(await app.log.append(draft));
  if (isGone(context)) return;
  const { body } = draft;
  return acknowledge(context, stamp, body instanceof Uint8Array ? body : undefined);
}

async function takeLarge(
  context: RequestContext,
  kind: Kind,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const { app, request } = context;
  const { grammar, log } = app;
  const spool = (): Spool => log.spool();
  const draft = await readDraft(kind, chunks, { grammar, spool, key: keyFor(request) });
  const stamp = stampOf(await log.append(draft));
  if (isGone(context)) return;
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

/** The stamp of an entry that is durable; throws where the draft did not become one. */
export function stampOf(appended: AppendResult): Stamp {
  switch (appended.outcome) {
    case 'appended':
    case 'repeated':
      return appended.stamp;
    case 'conflict':
      throw conflict(appended.stamp);
    case 'refused':
      throw new GatewayError(appended.code, REFUSED[appended.code]);
  }
}

function conflict({ id }: Stamp): GatewayError {
  const path = pathOf(id);
  const detail = `Cannot keep this entry: its idempotency key belongs to ${path}, which says something else. Use another key for another entry.`;
  return new GatewayError('idempotency-conflict', detail, { entry: path });
}

const AGAIN = 'Try again later, with an Idempotency-Key, so that it is kept once.';
const REFUSED = {
  'out-of-space': `Cannot keep this entry: the disk is full. ${AGAIN}`,
  unavailable: `Cannot keep this entry: storing does not work at the moment. ${AGAIN}`,
} as const;

function pathOf(id: string): string {
  return `/api/entries/${id}`;
}

/**
 * Answers that the entry is kept. Its body, the visitor's members, is undefined where it is too
 * long to be repeated.
 */
function acknowledge(
  context: RequestContext,
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

async function greet(context: RequestContext, stamp: Stamp, text: string): Promise<void> {
  const locale = localeFor(context.request);
  const entry = Buffer.from(text, 'latin1');
  const body = await welcomed(context.app, stamp, { text: entry, locale });
  if (!isGone(context)) await created(context, stamp, latin1Of(body), contentLanguage(locale));
}

/** Bytes as a string of as many characters: Node sends it with the headers, in one piece. */
function latin1Of({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}

function created(
  context: RequestContext,
  { id }: Stamp,
  text: string,
  more?: Headers,
): void | Promise<void> {
  const { request, response } = context;
  if (text.length >= WORTH_COMPRESSING && encodingOf(request.headers['accept-encoding'])) {
    const headers = { Location: pathOf(id), ...more };
    const body = Buffer.from(text, 'latin1');
    return answer(context, { status: 201, type: JSON_TYPE, headers, body });
  }
  response.writeHead(201, {
    'Content-Type': JSON_TYPE,
    'Content-Length': text.length,
    Location: pathOf(id),
    ...more,
    ...COMMON,
  });
  response.end(text, 'latin1');
}
