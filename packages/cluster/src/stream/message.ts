/**
 * The messages of a cluster's stream. The subject of a chunk is `STREAM.upload.NAME`, of a replacement
 * `STREAM.erased.POSITION`, of all others `STREAM.log`. Each message begins with a header of 68 bytes,
 * numbers little-endian: version (1), kind (index in `MESSAGE_KINDS`), publisher (16 bytes), its number,
 * `settled` and `sent` (6 bytes each), a nonce (32 random bytes). The rest depends on the kind:
 *
 * - `drafts`: drafts as `packDrafts` writes them, one after another; perhaps none.
 * - `chunk`: name of an upload (36 bytes), 0 (1 byte), offset in its body (6 bytes), then the bytes. Older
 *   gateways send files with facets too, with another number than 0.
 * - `cases`: entries to be withheld, hidden or shown, deflated JSON: an array of `StreamCases`.
 * - `withhold` and `hide`: the same, of older gateways: an array of `StreamWithholding`.
 * - `replacement`: takes the place of a deleted message, whose position is in the subject (see
 *   `replacement.ts`). A reader who finds no message at a position reads its newest replacement.
 *
 * All but replacements are published with the header `Nats-Msg-Id: PUBLISHER:NUMBER`.
 */
import { randomFillSync } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

import type {
  MessageOrigin,
  OrderedCases,
  Replica,
  UploadChunk,
} from '@open-presence/gateway/replica';

import { ClusterRefusal } from './check-servers.ts';

const MESSAGE_KINDS = ['drafts', 'chunk', 'withhold', 'replacement', 'hide', 'cases'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];
/** What withholds, hides or shows entries. */
export const LISTING: readonly MessageKind[] = ['cases', 'withhold', 'hide'];

interface StreamMessage extends MessageOrigin {
  readonly kind: MessageKind;
  readonly nonce: Uint8Array;
  readonly payload: Uint8Array;
}

/** A message with its place in the stream. */
export interface PlacedMessage extends StreamMessage {
  readonly position: number;
  /** When the stream took it, in ms since 1970. */
  readonly time: number;
}

export interface Chunk extends UploadChunk {
  readonly name: string;
}

const VERSION = 1;
const PUBLISHER = 2;
const NUMBER = 18;
const SETTLED = 24;
const SENT = 30;
const NONCE = 36;
const HEADER = 68;

const NAME_SIZE = 36;
const CHUNK_HEADER = NAME_SIZE + 7;

export function packMessage(
  kind: MessageKind,
  { publisher, number, settled, sent }: MessageOrigin,
  payload: readonly Uint8Array[],
): Uint8Array {
  const header = Buffer.alloc(HEADER);
  header[0] = VERSION;
  header[1] = MESSAGE_KINDS.indexOf(kind);
  header.write(publisher, PUBLISHER, 'hex');
  header.writeUIntLE(number, NUMBER, 6);
  header.writeUIntLE(settled, SETTLED, 6);
  header.writeUIntLE(sent, SENT, 6);
  randomFillSync(header, NONCE);
  return Buffer.concat([header, ...payload]);
}

/** Throws a `ClusterRefusal` for a message that this version does not know: without it, the log would differ. */
export function unpackMessage(data: Uint8Array): StreamMessage {
  const buffer = Buffer.from(data.buffer, data.byteOffset, data.length);
  const kind = MESSAGE_KINDS[buffer[1] ?? MESSAGE_KINDS.length];
  if (buffer.length < HEADER || buffer[0] !== VERSION || kind === undefined)
    throw new ClusterRefusal(
      'The stream has a message of another version: use the newest of all gateways.',
    );
  return {
    kind,
    publisher: buffer.toString('hex', PUBLISHER, NUMBER),
    number: buffer.readUIntLE(NUMBER, 6),
    settled: buffer.readUIntLE(SETTLED, 6),
    sent: buffer.readUIntLE(SENT, 6),
    nonce: buffer.subarray(NONCE, HEADER),
    payload: buffer.subarray(HEADER),
  };
}

/** Throws as `unpackMessage` does. */
export function placeMessage({
  seq,
  time,
  data,
}: {
  readonly seq: number;
  readonly time: Date;
  readonly data: Uint8Array;
}): PlacedMessage {
  return { ...unpackMessage(data), position: seq, time: Math.floor(time.getTime()) };
}

export function packChunk({ name, offset, bytes }: Chunk): readonly Uint8Array[] {
  const header = Buffer.alloc(CHUNK_HEADER);
  header.write(name, 'latin1');
  header.writeUIntLE(offset, NAME_SIZE + 1, 6);
  return [header, bytes];
}

/** Undefined for a chunk of facets. */
export function unpackChunk(payload: Uint8Array): Chunk | undefined {
  const buffer = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
  if (buffer[NAME_SIZE] !== 0) return undefined;
  return {
    name: buffer.toString('latin1', 0, NAME_SIZE),
    offset: buffer.readUIntLE(NAME_SIZE + 1, 6),
    bytes: buffer.subarray(CHUNK_HEADER),
  };
}

interface StreamCases extends OrderedCases {
  /** The first one, then how much greater each is than the one before. */
  readonly seqs: readonly number[];
}

interface StreamWithholding {
  readonly seq: number;
  readonly reason: string;
  /** Only in a message `hide`. Without it: withheld. */
  readonly state?: OrderedCases['state'];
}

/** Servers take at least 1 MiB. */
const MAX_SIZE = 512 * 1024;

/** Packs the cases into one payload; half a million entries or more may need several. */
export function packCases(cases: readonly OrderedCases[]): Uint8Array[] {
  const packed: StreamCases[] = cases.map(({ seqs, reason, state }) => {
    const sorted = seqs.toSorted((a, b) => a - b);
    return { reason, state, seqs: sorted.map((seq, at) => seq - (sorted[at - 1] ?? 0)) };
  });
  const payload = deflateRawSync(JSON.stringify(packed));
  const [first, ...others] = cases;
  if (payload.length <= MAX_SIZE || first === undefined) return [payload];
  if (others.length > 0) return cases.flatMap((one) => packCases([one]));
  const half = first.seqs.length >> 1;
  const halves = [first.seqs.slice(0, half), first.seqs.slice(half)];
  return half === 0 ? [payload] : halves.flatMap((seqs) => packCases([{ ...first, seqs }]));
}

export function unpackCases({
  kind,
  payload,
  time,
}: PlacedMessage): Parameters<Replica['withhold']>[0] {
  if (kind !== 'cases') {
    const items = JSON.parse(Buffer.from(payload).toString()) as readonly StreamWithholding[];
    return items.map(({ seq, reason, state = 'withheld' }) => ({
      seqs: [seq],
      reason,
      state,
      time,
    }));
  }
  const packed = JSON.parse(inflateRawSync(payload).toString()) as readonly StreamCases[];
  return packed.map(({ seqs, reason, state }) => {
    let last = 0;
    return { reason, state, time, seqs: seqs.map((more) => (last += more)) };
  });
}
