/**
 * Storing an entry (PROTOCOL.md section 7): the body is read and judged as a draft, the draft is appended to
 * the log, and the entry is sent back once it is durable.
 */
import { entryHead, entryPath, type Kind, type EntryMetadata } from '@open-presence/protocol';

import { isDisconnected, localeFor } from '../../http/context.ts';
import type { FastPostHandler } from '../../http/fast/fast-post.ts';
import { preferredEncoding, wantsMinimal } from '../../http/negotiation.ts';
import { parameterNotes } from '../../http/parameters/parameter-check.ts';
import { bodyChunks, discardBody } from '../../http/request/request-body.ts';
import { MIN_COMPRESSED_SIZE } from '../../http/response/compression.ts';
import {
  COMMON_HEADERS,
  contentLanguage,
  headerLines,
  JSON_TYPE,
  type Headers,
} from '../../http/response/headers.ts';
import { sendResponse } from '../../http/response/response.ts';
import { runHandler } from '../../http/router.ts';
import type { ParsedDraft } from '../../intake/body-reader.ts';
import { FormConverter } from '../../intake/forms/form-body.ts';
import { hashIdempotencyKey } from '../../intake/idempotency-key.ts';
import { parseSmallBody } from '../../intake/small-body.ts';
import type { Log } from '../../log/log.ts';
import {
  append,
  draftFor,
  metadataOf,
  type StoredEntry,
} from '../../operations/contribution/append.ts';
import {
  mayHaveNotes,
  notesMember,
  repeatedMember,
} from '../../operations/contribution/draft-notes.ts';
import { firstContactBody } from '../../operations/contribution/first-contact.ts';
import type { DoorContext, DoorHandler, DoorRequest } from '../context.ts';
import { redirectsToOrigin } from '../redirect-to-origin.ts';
import { idempotencyKeyOf } from '../request-key.ts';
import { isNdjson, storeLines } from './contribute-lines.ts';

/** Larger entries, in bytes, are not sent back. */
const MAX_ECHOED_SIZE = 64 * 1024;

/** A handler that stores entries of a kind. */
export function contribute(kind: Kind): DoorHandler {
  return async (context) => {
    if (redirectsToOrigin(context)) return;
    const { app, request } = context;
    const type = request.headers['content-type'];
    try {
      if (isNdjson(type)) {
        await storeLines(context, kind);
        return;
      }
      const key = idempotencyKeyOf(request);
      const form = new FormConverter(type, app.grammar.kinds[kind]);
      const draft = await draftFor(app, {
        kind,
        body: form.convertChunks(bodyChunks(request)),
        key,
      });
      await store(context, form.key === undefined ? draft : { key: form.key, ...draft });
    } finally {
      discardBody(request);
    }
  };
}

/** Answers small bodies of a kind exactly as the other handler, and leaves to that one what it does not take. */
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
        const text = entryText(result.metadata, small.body);
        const isShort = !acceptsEncoding || text.length < MIN_COMPRESSED_SIZE;
        if (isShort && text.length <= MAX_ECHOED_SIZE) {
          responder.send('201 Created', createdLines(result.metadata, text), text);
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
        runHandler(() => answer(context, metadataOf(result), { body: small.body }), context);
      });
    });
    return true;
  };
}

const COMMON_LINES = headerLines(COMMON_HEADERS);

function createdLines({ id }: EntryMetadata, text: string): string {
  return `Content-Type: ${JSON_TYPE}\r\nContent-Length: ${text.length}\r\nLocation: ${entryPath(id)}\r\n${COMMON_LINES}`;
}

/** Appends a draft, and answers with the entry. */
export async function store(context: DoorRequest, draft: ParsedDraft): Promise<void> {
  const { app, request, response } = context;
  const entry = await append(app.log, draft);
  const others = parameterNotes(request);
  const notes =
    others.length > 0 || mayHaveNotes(app.log, draft)
      ? await notesMember(app, draft, entry.metadata.seq, others)
      : '';
  // An earlier entry with the same key may be spelled differently.
  const isHeld = draft.body instanceof Uint8Array && !entry.isRepeated;
  const content = isHeld ? { body: draft.body } : await contentOf(app.log, entry);
  if (isDisconnected(context)) return;
  if (entry.isRepeated) response.setHeader('Idempotent-Replayed', 'true');
  await answer(context, entry.metadata, content, repeatedMember(entry.isRepeated) + notes);
}

/** What of an entry is sent back. */
interface Content {
  /** The visitor's members; undefined if they are too large to send back. */
  readonly body: Uint8Array | undefined;
  /** Whether the body says so, in place of the visitor's members. */
  readonly isWithheld?: boolean;
}

async function contentOf(log: Log, { metadata }: StoredEntry): Promise<Content> {
  // A large body may become a small entry: surrounding whitespace is not stored.
  const entry = await log.entry(metadata.seq, 'exact');
  if (entry === undefined || entry.size > MAX_ECHOED_SIZE) return { body: undefined };
  const copy = (chunk: Uint8Array): Buffer => Buffer.from(chunk);
  const text = Buffer.concat(await Array.fromAsync(entry.chunks(), copy));
  const body = text.subarray(entryHead(metadata).length + 1, -1);
  return { body, isWithheld: entry.withheld !== undefined };
}

/** Sends 201. `others`: members of the answer after those of the entry, in ASCII, with a comma before each. */
async function answer(
  context: DoorRequest,
  metadata: EntryMetadata,
  { body, isWithheld }: Content,
  others = '',
): Promise<void> {
  const { request } = context;
  const text = body && entryText(metadata, body);
  const minimal = wantsMinimal(request.headers['prefer']);
  if (minimal || text === undefined || text.length > MAX_ECHOED_SIZE) {
    const preference: Headers = minimal ? { 'Preference-Applied': 'return=minimal' } : {};
    const short =
      isWithheld === true && text !== undefined ? text.slice(0, -1) : entryHead(metadata);
    await sendCreated(context, metadata, `${short}${others}}`, preference);
    return;
  }
  if (metadata.kind !== 'resonance') {
    await sendCreated(context, metadata, `${text.slice(0, -1)}${others}}`);
    return;
  }
  const locale = localeFor(request);
  const byGet = request.method === 'GET';
  const entry = Buffer.from(text, 'latin1');
  const contact = await firstContactBody(context.app, metadata, { text: entry, locale, byGet });
  if (isDisconnected(context)) return;
  const withWelcome = `${latin1Of(contact.subarray(0, -1))}${others}}`;
  await sendCreated(context, metadata, withWelcome, contentLanguage(locale));
}

/** The entry, as Latin-1. */
function entryText(metadata: EntryMetadata, body: Uint8Array): string {
  const head = entryHead(metadata);
  return body.length === 0 ? `${head}}` : `${head},${latin1Of(body)}}`;
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
  const headers = { Location: entryPath(id), ...extraHeaders };
  if (text.length >= MIN_COMPRESSED_SIZE && preferredEncoding(request.headers['accept-encoding'])) {
    const body = Buffer.from(text, 'latin1');
    return sendResponse(context, { status: 201, type: JSON_TYPE, headers, body });
  }
  response.writeHead(201, {
    'Content-Type': JSON_TYPE,
    'Content-Length': text.length,
    ...headers,
    ...COMMON_HEADERS,
  });
  response.end(text, 'latin1');
}
