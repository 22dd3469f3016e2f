/** Makes of a line of a log what a store takes. */
import {
  entryHead,
  entryId,
  GatewayError,
  isKind,
  SALTS,
  type EntryMetadata,
} from '@open-presence/protocol';

import { parseDraft } from '../intake/draft.ts';
import type { StoredGrammar } from '../intake/stored-grammar.ts';
import type { SmallCopy } from '../log/log-copier.ts';
import type { Seq } from '../log/log.ts';
import { withheldFacets } from '../log/thread.ts';

/** An entry as the log of a gateway prints it (PROTOCOL.md section 20.2). Bytes in hex. */
export interface LogLine {
  readonly link: string;
  /** Undefined for an entry that is withheld there. */
  readonly salt: string | undefined;
  readonly digest: string | undefined;
  /** Hash of the idempotency key's column, if there is one. */
  readonly key: string | undefined;
  /** The seq of the entry that begins the thread of a withheld answer. */
  readonly thread: string | undefined;
  readonly id: string;
  readonly seq: Seq;
  readonly kind: string;
  readonly room: string;
  /** The gateway's own members, as they were printed. */
  readonly own: Uint8Array;
  /** The visitor's members; undefined if they are long. */
  readonly body: Uint8Array | undefined;
  /** The same in pieces. Those of a long body are read once. */
  chunks(): AsyncIterable<Uint8Array>;
}

/** Printable ASCII without quotation mark and backslash. */
const ROOM = /^[!#-[\]-~]+$/;
/** As gateways print it. */
const WITHHELD = /^"withheld":\{"at":"([^"]*)","reason":("(?:[^"\\]|\\.)*")\}$/;
const NO_SALT = '0'.repeat(32);
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Undefined for a line that is long, or cannot be stored. */
export function smallCopyOf(line: LogLine, grammar: StoredGrammar): SmallCopy | undefined {
  const { body: bytes, salt, link, key } = line;
  if (bytes === undefined || (salt === undefined && line.digest === undefined)) return undefined;
  const metadata = metadataOf(line);
  if (metadata === undefined) return undefined;
  if (salt === undefined) return withheldCopyOf(line, metadata, bytes);
  const { kind, room } = metadata;
  try {
    const draft = parseDraft(kind, inBraces(bytes), grammar.for(kind, room));
    const { facets, body, portability = 'exact' } = draft;
    if (!(body instanceof Uint8Array)) return undefined;
    return { metadata, facets, body, portability, link, salt, key };
  } catch (error) {
    if (isMalformed(error)) return undefined;
    throw error;
  }
}

/** Undefined where it says something else than that it was withheld. */
function withheldCopyOf(
  { digest = '', link, key, thread }: LogLine,
  metadata: EntryMetadata,
  body: Uint8Array,
): SmallCopy | undefined {
  const [, at = '', reason = ''] = WITHHELD.exec(Buffer.from(body).toString()) ?? [];
  const time = Date.parse(at);
  if (Number.isNaN(time)) return undefined;
  const facets = withheldFacets(
    metadata.kind,
    metadata.room,
    thread === undefined ? undefined : Number.parseInt(thread, 16),
  );
  const withheld = { time, reason: String(JSON.parse(reason)), digest };
  return { metadata, facets, body: new Uint8Array(0), link, salt: NO_SALT, key, withheld };
}

/** Undefined where the gateway's own members are not as every gateway prints them. */
export function metadataOf({ id, seq, kind, room, own }: LogLine): EntryMetadata | undefined {
  if (!isKind(kind) || !ROOM.test(room)) return undefined;
  const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  const salt = Number.parseInt(id.slice(-12), 16) % SALTS;
  if (id !== entryId(time, seq, salt)) return undefined;
  const metadata = { id, seq, kind, room, time };
  const printed = Buffer.from(own.buffer, own.byteOffset, own.length).toString('latin1');
  return printed === entryHead(metadata) ? metadata : undefined;
}

function inBraces(body: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(body.length + 2);
  bytes[0] = OPENING;
  bytes.set(body, 1);
  bytes[body.length + 1] = CLOSING;
  return bytes;
}

export function isMalformed(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'malformed-json';
}
