/** Copies in binary form for the writer's thread, in a buffer that is used again: objects would cost more than storing them. */
import { entryHead, type Kind, KINDS } from '@open-presence/protocol';

import type { CopyResult, EntryCopy, WithheldCopy } from '../../log/log-copier.ts';
import type { Seq } from '../../log/log.ts';
import { PORTABILITIES, type Portability } from '../../log/portability.ts';
import type { LargeBody } from '../../log/packed-drafts.ts';
import type { WithheldRow } from '../log/entry-row.ts';

export interface CopyRequest {
  readonly copies: ArrayBuffer;
  /** Bytes of it that are used. */
  readonly size: number;
}

export interface CopyResponse {
  readonly result: CopyResult;
  readonly copies: ArrayBuffer;
}

/** A copy for the writer: views of the batch. */
export interface PackedCopy {
  readonly seq: Seq;
  readonly time: number;
  readonly kind: Kind;
  readonly room: string;
  /** The gateway's own members, as they are printed. */
  readonly head: string;
  readonly salt: Uint8Array;
  readonly link: Uint8Array;
  /** SHA-256 of the key column. */
  readonly keyHash: Uint8Array | undefined;
  readonly facets: Uint8Array;
  readonly portability: Portability;
  readonly body: Uint8Array;
  readonly large: LargeBody | undefined;
  readonly withheld: WithheldRow | undefined;
  readonly isPutBack: boolean;
}

const SEQ = 0;
const TIME = 8;
const HEAD_SIZE = 16;
const ROOM_SIZE = 20;
const FACETS_SIZE = 24;
const BODY_SIZE = 28;
const KIND = 32;
const FLAGS = 33;
const PORTABILITY = 34;
const SALT = 35;
const LINK = SALT + 16;
const KEY = LINK + 32;
const HEADER = KEY + 32;
const KEYED = 1;
const LARGE = 2;
const WITHHELD = 4;
const PUT_BACK = 8;

const FIRST_SIZE = 5 * 1024 * 1024;

export class CopyBatch {
  #buffer: Buffer;
  /** Bytes that are used. */
  size = 0;

  /** `memory`: of an earlier batch. */
  constructor(memory: ArrayBuffer = new ArrayBuffer(FIRST_SIZE)) {
    this.#buffer = Buffer.from(memory);
  }

  get memory(): ArrayBuffer {
    return this.#buffer.buffer as ArrayBuffer;
  }

  /** `body`: of a small entry, or where that of a large one is. */
  add(copy: EntryCopy, body: Uint8Array | LargeBody): void {
    const { metadata, facets, salt, link, key, withheld, isPutBack = false } = copy;
    const isLarge = !(body instanceof Uint8Array);
    const isPlain = !isLarge && withheld === undefined;
    const bytes = isPlain ? body : Buffer.from(JSON.stringify(withheld ?? body));
    const head = entryHead(metadata);
    const { room } = metadata;
    this.#reserve(HEADER + head.length + room.length + facets.length + bytes.length);
    const [buffer, start] = [this.#buffer, this.size];
    buffer.writeDoubleLE(metadata.seq, start + SEQ);
    buffer.writeDoubleLE(metadata.time, start + TIME);
    buffer.writeUInt32LE(head.length, start + HEAD_SIZE);
    buffer.writeUInt32LE(room.length, start + ROOM_SIZE);
    buffer.writeUInt32LE(facets.length, start + FACETS_SIZE);
    buffer.writeUInt32LE(bytes.length, start + BODY_SIZE);
    buffer[start + KIND] = KINDS.indexOf(metadata.kind);
    buffer[start + FLAGS] =
      (key === undefined ? 0 : KEYED) |
      (isLarge ? LARGE : 0) |
      (withheld ? WITHHELD : 0) |
      (isPutBack ? PUT_BACK : 0);
    buffer[start + PORTABILITY] = PORTABILITIES.indexOf(copy.portability ?? 'exact');
    buffer.write(salt, start + SALT, 'hex');
    buffer.write(link, start + LINK, 'hex');
    if (key !== undefined) buffer.write(key, start + KEY, 'hex');
    let at = start + HEADER;
    at += buffer.write(head, at, 'latin1');
    at += buffer.write(room, at, 'latin1');
    buffer.set(facets, at);
    buffer.set(bytes, at + facets.length);
    this.size = at + facets.length + bytes.length;
  }

  #reserve(size: number): void {
    if (this.size + size <= this.#buffer.length) return;
    const larger = Buffer.from(new ArrayBuffer(2 * (this.size + size)));
    larger.set(this.#buffer.subarray(0, this.size));
    this.#buffer = larger;
  }
}

export function* copiesIn({
  copies,
  size,
}: Pick<CopyRequest, 'copies' | 'size'>): Generator<PackedCopy> {
  const buffer = Buffer.from(copies);
  for (let start = 0; start < size;) {
    const roomAt = start + HEADER + buffer.readUInt32LE(start + HEAD_SIZE);
    const facetsAt = roomAt + buffer.readUInt32LE(start + ROOM_SIZE);
    const bodyAt = facetsAt + buffer.readUInt32LE(start + FACETS_SIZE);
    const end = bodyAt + buffer.readUInt32LE(start + BODY_SIZE);
    const flags = buffer[start + FLAGS] ?? 0;
    const isLarge = (flags & LARGE) !== 0;
    const isWithheld = (flags & WITHHELD) !== 0;
    const described = (): unknown => JSON.parse(buffer.toString('utf8', bodyAt, end));
    yield {
      seq: buffer.readDoubleLE(start + SEQ),
      time: buffer.readDoubleLE(start + TIME),
      kind: KINDS[buffer[start + KIND] ?? 0] ?? KINDS[0],
      room: buffer.toString('latin1', roomAt, facetsAt),
      head: buffer.toString('latin1', start + HEADER, roomAt),
      salt: buffer.subarray(start + SALT, start + LINK),
      link: buffer.subarray(start + LINK, start + KEY),
      keyHash: (flags & KEYED) === 0 ? undefined : buffer.subarray(start + KEY, start + HEADER),
      facets: buffer.subarray(facetsAt, bodyAt),
      portability: PORTABILITIES[buffer[start + PORTABILITY] ?? 0] ?? 'exact',
      body: buffer.subarray(bodyAt, isLarge || isWithheld ? bodyAt : end),
      large: isLarge ? (described() as LargeBody) : undefined,
      withheld: isWithheld ? rowOf(described() as WithheldCopy) : undefined,
      isPutBack: (flags & PUT_BACK) !== 0,
    };
    start = end;
  }
}

function rowOf({ time, reason, digest }: WithheldCopy): WithheldRow {
  return { time, reason, state: 'withheld', digest: Buffer.from(digest, 'hex') };
}
