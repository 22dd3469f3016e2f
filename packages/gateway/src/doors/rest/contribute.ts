/**
 * Storing an entry (PROTOCOL.md section 7): the body is parsed into a draft, the draft is appended to
 * the log, and the response is sent once the entry is durable.
 *
 * Most requests have a small body. They take the shortest path: each step that only a large body
 * needs is left out.
 */
import { entryHead, entryPath, type Kind, type EntryMetadata } from '@open-presence/protocol';

import { parseDraft, SMALL_BODY_SIZE } from '../../intake/draft.ts';
import { parseSmallBody } from '../../intake/small-body.ts';
import { FormConverter } from '../../intake/forms/form-body.ts';
import { parameterNotes } from '../../http/parameters/parameter-check.ts';
import { preferredEncoding, wantsMinimal } from '../../http/negotiation.ts';
import { sendResponse } from '../../http/response/response.ts';
import {
  COMMON_HEADERS,
  contentLanguage,
  headerLines,
  JSON_TYPE,
  type Headers,
} from '../../http/response/headers.ts';
import { discardBody, readBody } from '../../http/request/request-body.ts';
import { MIN_COMPRESSED_SIZE } from '../../http/response/compression.ts';
import { isDisconnected, localeFor } from '../../http/context.ts';
import { hashIdempotencyKey } from '../../intake/idempotency-key.ts';
import { firstContactBody } from '../../operations/contribution/first-contact.ts';
import { sendError } from '../../http/response/problem.ts';
import { runHandler } from '../../http/router.ts';
import type { FastPostHandler } from '../../http/fast/fast-post.ts';
import {
  append,
  draftFor,
  metadataOf,
  type Contribution,
  type StoredEntry,
} from '../../operations/contribution/append.ts';
import type { ParsedDraft } from '../../intake/body-reader.ts';
import {
  mayHaveNotes,
  notesMember,
  repeatedMember,
} from '../../operations/contribution/draft-notes.ts';
import { isNdjson, storeLines } from './contribute-lines.ts';
import { idempotencyKeyOf } from '../request-key.ts';
import type { DoorContext, DoorHandler, DoorRequest } from '../context.ts';
import { redirectsToOrigin } from '../redirect-to-origin.ts';

/** Larger entries, in bytes, are not sent back. */
const MAX_ECHOED_SIZE = 64 * 1024;

/** A handler that stores entries of a kind. */
export function contribute(kind: Kind): DoorHandler {
  return (context) => {
    if (redirectsToOrigin(context)) return;
    const { request } = context;
    const onError = (error: unknown): void => sendError(context, error);
    if (isNdjson(request.headers['content-type'])) {
      storeLines(context, kind).catch(onError);
      return;
    }
    readBody(request, SMALL_BODY_SIZE, {
      onSmall(bytes) {
        receiveSmall(context, kind, bytes).catch(onError);
      },
      onLarge(chunks) {
        const responded = receiveLarge(context, kind, chunks).catch(onError);
        void responded.then(() => discardBody(request));
      },
      onError(error) {
        onError(error);
        discardBody(request);
      },
    });
  };
}

/**
 * A handler for small bodies of a kind. It responds exactly as the other handler, and leaves to that one what it
 * does not take.
 */
export function contributeFast(kind: Kind): FastPostHandler<DoorContext> {
  return (app, { body, acceptsEncoding, key: header }, responder) => {
    if (app.mirror !== undefined) return false;
    const grammar = app.grammar.kinds[kind];
    const small = parseSmallBody(grammar, body);
    if (small === undefined || mayHaveNotes(app.log, small)) return false;
    const key = header === undefined ? undefined : hashIdempotencyKey(header, null);
    const draft = { kind, room: grammar.room, ...small, ...(key === undefined ? {} : { key }) };
    app.log.appendSmall(draft, (result) => {
      if (result.outcome === 'appended') {
        const { metadata } = result;
        const text = entryText(metadata, small.body);
        const isShort = !acceptsEncoding || text.length < MIN_COMPRESSED_SIZE;
        if (isShort && text.length <= MAX_ECHOED_SIZE) {
          responder.send('201 Created', createdLines(metadata, text), text);
          return;
        }
      }
      // The route answers with the entry that has the key, or says in what that differs.
      if (result.outcome === 'repeated' || result.outcome === 'conflict') {
        responder.handOver();
        return;
      }
      responder.handOver((request, response) => {
        const context = { app, request, response, params: {} };
        runHandler(
          () => sendStored(context, metadataOf(result), { body: small.body, others: '' }),
          context,
        );
      });
    });
    return true;
  };
}

const COMMON_LINES = headerLines(COMMON_HEADERS);

function createdLines({ id }: EntryMetadata, text: string): string {
  return `Content-Type: ${JSON_TYPE}\r\nContent-Length: ${text.length}\r\nLocation: ${entryPath(id)}\r\n${COMMON_LINES}`;
}

async function receiveSmall(context: DoorRequest, kind: Kind, bytes: Buffer): Promise<void> {
  const { app, request } = context;
  const form = new FormConverter(request.headers['content-type'], app.grammar.kinds[kind]);
  const body = await form.convert(bytes);
  await storeBody(context, { kind, body, key: idempotencyKeyOf(request) ?? form.key });
}

async function receiveLarge(
  context: DoorRequest,
  kind: Kind,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  const { app, request } = context;
  const key = idempotencyKeyOf(request);
  const form = new FormConverter(request.headers['content-type'], app.grammar.kinds[kind]);
  const draft = await draftFor(app, { kind, body: form.convertChunks(chunks), key });
  await storeDraft(context, form.key === undefined ? draft : { key: form.key, ...draft });
}

/** Stores an entry whose body is in memory, as JSON. */
export async function storeBody(
  context: DoorRequest,
  contribution: Contribution & { readonly body: Uint8Array },
): Promise<void> {
  const { app } = context;
  const { kind, body, key } = contribution;
  if (body.length > SMALL_BODY_SIZE) return storeDraft(context, await draftFor(app, contribution));
  const draft = parseDraft(kind, body, app.grammar, key);
  const entry = await append(app.log, draft);
  const notes = await notesFor(context, draft, entry);
  // An earlier entry with the same key may be spelled differently.
  if (entry.isRepeated) return sendFromLog(context, entry, notes);
  if (isDisconnected(context)) return;
  const stored = draft.body instanceof Uint8Array ? draft.body : undefined;
  return sendStored(context, entry.metadata, { body: stored, others: notes });
}

/** Stores an entry whose body may be spooled. */
async function storeDraft(context: DoorRequest, draft: ParsedDraft): Promise<void> {
  const { log } = context.app;
  const entry = await append(log, draft);
  await sendFromLog(context, entry, await notesFor(context, draft, entry));
}

/** Returns no promise where there is nothing to tell. */
function notesFor(
  { app, request }: DoorRequest,
  draft: ParsedDraft,
  { metadata }: StoredEntry,
): string | Promise<string> {
  const others = parameterNotes(request);
  return others.length > 0 || mayHaveNotes(app.log, draft)
    ? notesMember(app, draft, metadata.seq, others)
    : '';
}

async function sendFromLog(
  context: DoorRequest,
  { metadata, isRepeated }: StoredEntry,
  notes: string,
): Promise<void> {
  if (isDisconnected(context)) return;
  if (isRepeated) context.response.setHeader('Idempotent-Replayed', 'true');
  // A large body may become a small entry: surrounding whitespace is not stored.
  const entry = await context.app.log.entry(metadata.seq, 'exact');
  const isEchoed = entry !== undefined && entry.size <= MAX_ECHOED_SIZE;
  const copy = (chunk: Uint8Array): Buffer => Buffer.from(chunk);
  const text = isEchoed ? Buffer.concat(await Array.fromAsync(entry.chunks(), copy)) : undefined;
  await sendStored(context, metadata, {
    body: text?.subarray(entryHead(metadata).length + 1, -1),
    isWithheld: entry?.withheld !== undefined,
    others: repeatedMember(isRepeated) + notes,
  });
}

interface StoredContent {
  /** The visitor's members; undefined if they are too large to send back. */
  readonly body: Uint8Array | undefined;
  /** Whether the body says so, in place of the visitor's members. */
  readonly isWithheld?: boolean;
  /** Members of the answer after those of the entry: in ASCII, with a comma before each. */
  readonly others: string;
}

/** Sends 201. */
function sendStored(
  context: DoorRequest,
  metadata: EntryMetadata,
  { body, isWithheld, others }: StoredContent,
): void | Promise<void> {
  const head = entryHead(metadata);
  const minimal = wantsMinimal(context.request.headers['prefer']);
  if (minimal || body === undefined || head.length + body.length + 2 > MAX_ECHOED_SIZE) {
    const preference: Headers = minimal ? { 'Preference-Applied': 'return=minimal' } : {};
    const withheld = isWithheld && body !== undefined ? `,${latin1Of(body)}` : '';
    return sendCreated(context, metadata, `${head}${withheld}${others}}`, preference);
  }
  const text = entryText(metadata, body);
  return metadata.kind === 'resonance'
    ? sendFirstContact(context, metadata, { text, others })
    : sendCreated(context, metadata, `${text.slice(0, -1)}${others}}`);
}

/** The entry, as Latin-1. */
function entryText(metadata: EntryMetadata, body: Uint8Array): string {
  const head = entryHead(metadata);
  return body.length === 0 ? `${head}}` : `${head},${latin1Of(body)}}`;
}

async function sendFirstContact(
  context: DoorRequest,
  metadata: EntryMetadata,
  { text, others }: { readonly text: string; readonly others: string },
): Promise<void> {
  const locale = localeFor(context.request);
  const entry = Buffer.from(text, 'latin1');
  const byGet = context.request.method === 'GET';
  const body = await firstContactBody(context.app, metadata, { text: entry, locale, byGet });
  if (!isDisconnected(context))
    await sendCreated(
      context,
      metadata,
      `${latin1Of(body.subarray(0, -1))}${others}}`,
      contentLanguage(locale),
    );
}

/** Each byte as one character: Node sends a string together with the headers, in one packet. */
function latin1Of({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}

function sendCreated(
  context: DoorRequest,
  { id }: EntryMetadata,
  text: string,
  extraHeaders?: Headers,
): void | Promise<void> {
  const { request, response } = context;
  if (text.length >= MIN_COMPRESSED_SIZE && preferredEncoding(request.headers['accept-encoding'])) {
    const headers = { Location: entryPath(id), ...extraHeaders };
    const body = Buffer.from(text, 'latin1');
    return sendResponse(context, { status: 201, type: JSON_TYPE, headers, body });
  }
  response.writeHead(201, {
    'Content-Type': JSON_TYPE,
    'Content-Length': text.length,
    Location: entryPath(id),
    ...extraHeaders,
    ...COMMON_HEADERS,
  });
  response.end(text, 'latin1');
}
