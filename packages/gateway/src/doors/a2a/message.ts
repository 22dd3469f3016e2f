/**
 * A message, and the entries that it contributes (PROTOCOL.md section 19.3): one for each data part, and one for
 * all of its text.
 */
import type { IncomingMessage } from 'node:http';

import type { Message, Part } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { isKind, visitorName, type Kind } from '@open-presence/protocol';

import { hashIdempotencyKey } from '../../intake/idempotency-key.ts';
import { toJsonObject, type JsonObject } from '../../json/json-object.ts';
import { parseMessage } from '../json-message.ts';
import { headerKeyOf } from '../request-key.ts';
import { CLASSIFYING_MEMBERS, requestedSkill } from './skills.ts';

export interface ReceivedMessage {
  readonly message: Message;
  /** The metadata of the request and of the message. */
  readonly metadata: JsonObject;
  /** Members whose numbers were not kept. */
  readonly changed: Set<string>;
}

export function receivedMessage(
  message: Message,
  requestMetadata: JsonObject | undefined,
  changed: Set<string>,
): ReceivedMessage {
  const parts = message.parts.map((part) => dataPartIn(part, changed) ?? part);
  const metadata = { ...requestMetadata, ...message.metadata };
  return { message: { ...message, parts }, metadata, changed };
}

/** A JSON object with one of these members is meant as data. */
const DATA_MEMBERS = [...CLASSIFYING_MEMBERS, 'identity'];

/** Some agents can only send text, so they send data as text. */
function dataPartIn(part: Part, changed: Set<string>): Part | undefined {
  const { content } = part;
  if (content?.$case !== 'text' || !content.value.trimStart().startsWith('{')) return undefined;
  try {
    const value = toJsonObject(parseMessage(content.value, changed));
    if (!Object.keys(value).some((name) => DATA_MEMBERS.includes(name))) return undefined;
    return { ...part, content: { $case: 'data', value } };
  } catch {
    return undefined;
  }
}

interface EntryBody {
  readonly kind: Kind;
  readonly json: string;
}

export interface MessageContribution extends EntryBody {
  /** Digest of the idempotency key. */
  readonly key: Uint8Array | undefined;
}

/** The type of an author who gives only its name. */
const DEFAULT_IDENTITY_TYPE = 'ai_entity';

/** In the order in which they are stored. Throws for parts, metadata and keys that cannot be used. */
export function contributionsOf(
  received: ReceivedMessage,
  request: IncomingMessage,
): MessageContribution[] {
  return bodiesOf(received).map((body, index) => {
    return { ...body, key: keyFor(received.metadata, index) ?? headerKeyOf(request, index) };
  });
}

function bodiesOf({ message, metadata }: ReceivedMessage): EntryBody[] {
  const texts = textsIn(message);
  const bodies: EntryBody[] = [];
  for (const part of message.parts) {
    const { content } = part;
    if (content?.$case === 'text') continue;
    if (content?.$case !== 'data') throw new ContentTypeNotSupportedError(UNSUPPORTED);
    bodies.push({ kind: dataKind(metadata, part), json: JSON.stringify(content.value ?? null) });
  }
  if (texts.length > 0) bodies.unshift(textBody(metadata, texts.join('\n\n')));
  return bodies;
}

export function textsIn({ parts }: Message): string[] {
  return parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []));
}

const UNSUPPORTED =
  'Cannot store the message: its parts must be text or data. For a file, send its address as text.';

function dataKind(metadata: JsonObject, part: Part): Kind {
  const members = toJsonObject(part.content?.value);
  const kind = kindIn([part.metadata ?? {}, metadata, members]);
  return kind ?? ('ai_identity' in members ? 'resonance' : 'garden');
}

/** Throws for a message that asks to read as well. */
function kindIn(sources: readonly JsonObject[]): Kind | undefined {
  const skill = requestedSkill(sources);
  if (skill === undefined || isKind(skill)) return skill;
  throw new RequestMalformedError(READING_TOO);
}

const READING_TOO =
  'Cannot store the message: its metadata ask to read. Send what is to be stored in another message.';

/**
 * The body of a text, with the members that the metadata give it. Without a skill, a text with an author is a
 * trace, and one without is a whisper.
 */
function textBody(metadata: JsonObject, text: string): EntryBody {
  const {
    room,
    to,
    inReplyTo,
    seen,
    identity,
    ai_identity = identity,
    seeking = [text],
  } = metadata;
  const kind = kindIn([metadata]) ?? (isMissing(identity) ? 'shepit' : 'garden');
  const defaultType = isMissing(identity) ? undefined : DEFAULT_IDENTITY_TYPE;
  const { identityType = defaultType } = metadata;
  const author = kind === 'resonance' ? { ai_identity, seeking } : { identity, identityType };
  return { kind, json: JSON.stringify({ text, ...author, room, to, inReplyTo, seen }) };
}

/** Whether an author is not given, or by white space alone. */
function isMissing(value: unknown): boolean {
  return (
    value === undefined || value === null || (typeof value === 'string' && !visitorName(value))
  );
}

/** Whether the message has only text that names neither a skill nor an author. */
export function isUnsignedText({ message, metadata }: ReceivedMessage): boolean {
  return (
    textsIn(message).length === message.parts.length &&
    isMissing(metadata['identity']) &&
    requestedSkill([metadata]) === undefined
  );
}

/** Each entry of a message has a key of its own. */
function keyFor({ idempotencyKey }: JsonObject, index: number): Uint8Array | undefined {
  if (idempotencyKey === undefined || idempotencyKey === null) return undefined;
  if (typeof idempotencyKey !== 'string') throw new RequestMalformedError(NO_KEY);
  return hashIdempotencyKey(undefined, index === 0 ? idempotencyKey : `${idempotencyKey} ${index}`);
}

const NO_KEY = 'Cannot read the idempotency key: "idempotencyKey" must be a string.';
