/** Reads one stored entry to verify it: its row, and the file of a large body. */
import { createHash } from 'node:crypto';

import { entryHead, entryId, type Kind, SALTS, seqOfId } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { sha256 } from './hash-chain.ts';
import { largeChunks } from './large-files.ts';

const COMMA = 0x2c;
const BRACE = 0x7d;
const LARGE_NAME = /^[\da-f-]{36}$/;
/** What a Date can hold. */
const MAX_TIME = 8.64e15;

/** A row of the table `entries`. */
export interface EntryRow {
  readonly seq: Seq;
  readonly time: number;
  readonly kind: Kind;
  readonly room: string;
  readonly head: number;
  readonly size: number;
  readonly large: string | null;
  readonly link: Uint8Array;
  readonly text: Buffer;
}

/** `row`: read with BigInts, so that any number that someone has written there can be read. */
export function rowOf(row: Record<string, unknown>): EntryRow {
  const { buffer, byteOffset, length } = row['text'] as Uint8Array<ArrayBuffer>;
  return {
    seq: Number(row['seq']),
    time: Number(row['time']),
    kind: row['kind'] as Kind,
    room: row['room'] as string,
    head: Number(row['head']),
    size: Number(row['size']),
    large: row['large'] as string | null,
    link: row['link'] as Uint8Array,
    text: Buffer.from(buffer, byteOffset, length),
  };
}

/** The visitor's members as they are stored. */
export interface StoredBody {
  readonly digest: Uint8Array;
  /** Bytes of the whole entry. */
  readonly size: number;
  /** Whether they are between a comma and a closing brace. */
  readonly framed: boolean;
}

/** The gateway's members as the columns have them, if the text begins with them. */
export function headOf({ seq, time, kind, room, text }: EntryRow): string | undefined {
  const id = text.toString('latin1', 7, 43);
  if (seqOfId(id) !== seq || time < 0 || time > MAX_TIME) return undefined;
  const salt = Number.parseInt(id.slice(-12), 16) % SALTS;
  const head = entryHead({ id: entryId(time, seq, salt), seq, kind, room, time });
  return text.toString('latin1', 0, head.length) === head ? head : undefined;
}

interface BodyOptions {
  /** Bytes of the gateway's members. */
  readonly headSize: number;
  readonly signal: AbortSignal | undefined;
}

/** The body, or a description of why it cannot be read. */
export async function readBody(
  paths: DataPaths,
  row: EntryRow,
  { headSize, signal }: BodyOptions,
): Promise<StoredBody | string> {
  const { large, text } = row;
  const rest = text.subarray(headSize);
  if (large === null) {
    const body = rest.subarray(1, -1);
    const framed = rest.at(-1) === BRACE && (rest.length === 1 || hasComma(rest, body.length));
    return { digest: sha256(body), size: text.length, framed };
  }
  if (!LARGE_NAME.test(large)) return 'has no file';
  try {
    const { digest, size, last } = await readLargeBody(paths, large, signal);
    const framed = last === BRACE && (rest.length === 1 ? hasComma(rest, size - 1) : size === 1);
    return { digest, size: text.length + size, framed };
  } catch (error) {
    if (signal?.aborted === true || !(error instanceof Error)) throw error;
    const lost = 'code' in error && error.code === 'ENOENT';
    return lost ? 'has lost its file' : `has a file that cannot be read (${error.message})`;
  }
}

/** Whether there is a comma, and a body after it. */
function hasComma(rest: Uint8Array, size: number): boolean {
  return rest[0] === COMMA && size > 0;
}

/** The digest of a file without its last byte, and that byte. */
async function readLargeBody(
  paths: DataPaths,
  name: string,
  signal: AbortSignal | undefined,
): Promise<{ digest: Uint8Array; size: number; last: number | undefined }> {
  const hash = createHash('sha256');
  let previous: Uint8Array = new Uint8Array(0);
  let size = 0;
  for await (const chunk of largeChunks(paths, name)) {
    signal?.throwIfAborted();
    hash.update(previous);
    previous = Buffer.from(chunk);
    size += chunk.length;
  }
  hash.update(previous.subarray(0, -1));
  return { digest: hash.digest(), size, last: previous.at(-1) };
}
