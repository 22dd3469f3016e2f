/**
 * The entries that a message contributes (PROTOCOL.md section 19.3): one for each data part, and one
 * for all of its text.
 */
import type { Part } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { GatewayError, isKind, KINDS, type Kind } from '@open-presence/protocol';

import { hashIdempotencyKey } from '../../../intake/idempotency-key.ts';
import { toJsonObject, type JsonObject } from '../../../json/json-object.ts';
import { KIND_SKILLS, READING_SKILLS } from '../agent-card.ts';
import { stringify } from '../errors.ts';
import type { ReceivedMessage } from './received-message.ts';

interface EntryBody {
  readonly kind: Kind;
  readonly json: string;
}

export interface MessageContribution extends EntryBody {
  /** Digest of the idempotency key. */
  readonly key: Uint8Array | undefined;
}

/** The author of a text that comes without an identity. */
const DEFAULT_IDENTITY = 'a2a-visitor';
const DEFAULT_IDENTITY_TYPE = 'ai_entity';

/** In the order in which they are stored. Throws for parts and metadata that cannot be used. */
export function contributionsOf(received: ReceivedMessage): MessageContribution[] {
  return bodiesOf(received).map((body, index) => {
    return { ...body, key: keyFor(received.metadata, index) };
  });
}

function bodiesOf(received: ReceivedMessage): EntryBody[] {
  const { message, metadata } = received;
  const texts: string[] = [];
  const bodies: EntryBody[] = [];
  for (const [index, part] of message.parts.entries()) {
    const { content } = part;
    if (content?.$case === 'text') texts.push(content.value);
    else if (content?.$case === 'data') {
      bodies.push({ kind: dataKind(metadata, part), json: received.rawData(index) ?? 'null' });
    } else throw new ContentTypeNotSupportedError(UNSUPPORTED);
  }
  if (texts.length > 0) bodies.unshift(textBody(metadata, texts.join('\n\n')));
  return bodies;
}

const UNSUPPORTED =
  'Cannot store the message: its parts must be text or data. For a file, send its address as text.';

function dataKind(metadata: JsonObject, part: Part): Kind {
  const members = toJsonObject(part.content?.value);
  const kind = requestedKind(part.metadata ?? {}) ?? requestedKind(metadata) ?? kindOf(members);
  return kind ?? ('ai_identity' in members ? 'resonance' : 'garden');
}

function kindOf({ kind, skill }: JsonObject): Kind | undefined {
  if (typeof kind === 'string' && isKind(kind)) return kind;
  return KINDS.find((candidate) => KIND_SKILLS[candidate] === skill);
}

/** Throws `unknown-kind` for a kind or skill that does not exist. */
function requestedKind(metadata: JsonObject): Kind | undefined {
  const kind = metadata['kind'] ?? undefined;
  const skill = metadata['skill'] ?? undefined;
  if (kind === undefined && skill === undefined) return undefined;
  const found = kindOf(metadata);
  if (found !== undefined) return found;
  const known = kind === undefined ? [...Object.values(KIND_SKILLS), ...READING_SKILLS] : KINDS;
  const detail = `must be one of ${known.join(', ')}, got ${stringify(kind ?? skill)
    .slice(0, 100)
    .toWellFormed()}`;
  const name = kind === undefined ? 'skill' : 'kind';
  throw new GatewayError('unknown-kind', `Cannot store the message: "${name}" ${detail}`, {
    known,
  });
}

/** The body of a text, with the members that the metadata have for it. */
function textBody(metadata: JsonObject, text: string): EntryBody {
  const { room, to, inReplyTo, seeking = [text] } = metadata;
  const { identity = DEFAULT_IDENTITY, identityType = DEFAULT_IDENTITY_TYPE } = metadata;
  const kind = requestedKind(metadata) ?? 'garden';
  const author =
    kind === 'resonance' ? { ai_identity: identity, seeking } : { identity, identityType };
  return { kind, json: stringify({ text, ...author, room, to, inReplyTo }) };
}

/** Each entry of a message has a key of its own. */
function keyFor({ idempotencyKey }: JsonObject, index: number): Uint8Array | undefined {
  if (idempotencyKey === undefined || idempotencyKey === null) return undefined;
  if (typeof idempotencyKey !== 'string') throw new RequestMalformedError(NO_KEY);
  return hashIdempotencyKey(undefined, index === 0 ? idempotencyKey : `${idempotencyKey} ${index}`);
}

const NO_KEY = 'Cannot read the idempotency key: "idempotencyKey" must be a string.';
