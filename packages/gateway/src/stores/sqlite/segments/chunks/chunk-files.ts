/**
 * The files of chunks: the texts of the entries of a chunk as a listing sends them, newest first, plain or
 * compressed. A file begins with the sizes and checksums of what follows: a joiner, compressed apart,
 * and the texts. It is made once a reader has missed it, and never changes.
 */
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, zstdCompress } from 'node:zlib';

import type { Kind } from '@open-presence/protocol';

import type { Seq, StoredEncoding } from '../../../../log/log.ts';
import type { DataPaths } from '../../data-paths.ts';
import { segmentFolder } from '../../segment-record.ts';

export type ChunkForm = StoredEncoding | 'plain';

/** Joins the entries of a chunk, and chunks. */
export const CHUNK_JOINER = ',\n';
/** Bytes of text. Longer chunks get no file: a chunk is verified as a whole. */
export const MAX_CHUNK_SIZE: number = 1280 * 1024;

/** As a raw block in a zstd frame, or a stored block in a deflate stream for gzip. */
export const JOINERS: Readonly<Record<ChunkForm, Buffer>> = {
  plain: Buffer.from(CHUNK_JOINER),
  zstd: Buffer.from('28b52ffd20021100002c0a', 'hex'),
  gzip: Buffer.from('000200fdff2c0a', 'hex'),
};

/** Smaller than gzip by a little, and decompressed in half the time. */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 9 } };
/** A full flush ends the piece at a byte, and the next piece refers to nothing in it. */
const DEFLATE = { finishFlush: constants.Z_FULL_FLUSH, chunkSize: 256 * 1024 };
const ENCODERS: Readonly<Record<ChunkForm, (text: Buffer) => Promise<Buffer>>> = {
  plain: async (text) => text,
  zstd: (text) => promisify(zstdCompress)(text, ZSTD),
  gzip: (text) => promisify(deflateRaw)(text, DEFLATE),
};

const SUM = 0;
const LENGTH = 4;
const SIZE = 8;
const CRC = 12;
const JOINED_CRC = 16;
export const CHUNK_HEADER_SIZE = 20;

export interface ChunkHeader {
  readonly sum: number;
  /** Bytes after the header. */
  readonly length: number;
  /** Bytes of the texts, and their CRC-32; and that with the joiner before them. */
  readonly size: number;
  readonly crc: number;
  readonly joinedCrc: number;
}

export interface ChunkFile {
  readonly segment: number;
  readonly kind: Kind;
  readonly last: Seq;
  readonly form: ChunkForm;
}

export function chunkFolder(paths: DataPaths, segment: number): string {
  return join(segmentFolder(paths, segment), 'chunks');
}

export function chunkPath(paths: DataPaths, { segment, kind, last, form }: ChunkFile): string {
  return join(chunkFolder(paths, segment), `${kind}-${last}.${form}`);
}

export async function encodeChunk(text: Buffer, form: ChunkForm): Promise<Buffer> {
  const header = Buffer.alloc(CHUNK_HEADER_SIZE);
  const bytes = Buffer.concat([header, JOINERS[form], await ENCODERS[form](text)]);
  bytes.writeUInt32LE(bytes.length - CHUNK_HEADER_SIZE, LENGTH);
  bytes.writeUInt32LE(text.length, SIZE);
  bytes.writeUInt32LE(crc32(text), CRC);
  bytes.writeUInt32LE(crc32(text, crc32(CHUNK_JOINER)), JOINED_CRC);
  bytes.writeUInt32LE(crc32(bytes.subarray(LENGTH)), SUM);
  return bytes;
}

export function headerOf(bytes: Buffer): ChunkHeader | undefined {
  if (bytes.length < CHUNK_HEADER_SIZE) return undefined;
  const header = {
    sum: bytes.readUInt32LE(SUM),
    length: bytes.readUInt32LE(LENGTH),
    size: bytes.readUInt32LE(SIZE),
    crc: bytes.readUInt32LE(CRC),
    joinedCrc: bytes.readUInt32LE(JOINED_CRC),
  };
  const holds =
    header.length === bytes.length - CHUNK_HEADER_SIZE &&
    header.sum === crc32(bytes.subarray(LENGTH));
  return holds ? header : undefined;
}
