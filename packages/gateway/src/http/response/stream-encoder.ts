/**
 * Compression of streamed bodies, part by part.
 *
 * A compressor takes hundreds of kilobytes, for as long as its stream is open. zstd frames and parts of
 * a deflate stream can be compressed apart, so that a reader who stalls holds no compressor. Brotli
 * has no such form.
 */
import { constants, crc32, deflateRaw, zstdCompress } from 'node:zlib';
import { promisify } from 'node:util';

import type { StreamEncoding } from '../negotiation.ts';
import { crc32Combine } from './crc32-combine.ts';

/** Bytes that are compressed together. */
export const PART_SIZE: number = 128 * 1024;

const EMPTY = Buffer.alloc(0);
/** Most parts are compressed in one call of the thread pool. */
const OPTIONS = { chunkSize: 64 * 1024 };

/** What a part encodes that was encoded before. */
export interface EncodedPart {
  /** In bytes. */
  readonly size: number;
  readonly crc: number;
}

export interface StreamEncoder {
  /** The bytes must not change until this resolves. */
  encode(bytes: Uint8Array): Promise<Uint8Array>;
  /** Returns what has to be sent before a part that was encoded apart. */
  pass(part: EncodedPart): Uint8Array;
  finish(): Uint8Array;
}

export function createStreamEncoder(encoding: StreamEncoding): StreamEncoder {
  return encoding === 'zstd' ? ZSTD : new GzipEncoder();
}

/** One frame after another (RFC 8878 section 3). */
const ZSTD: StreamEncoder = {
  encode: (bytes) => promisify<Uint8Array, object, Buffer>(zstdCompress)(bytes, OPTIONS),
  pass: () => EMPTY,
  finish: () => EMPTY,
};

/** ID, method, no flags, no time, and an unknown system (RFC 1952 section 2.3). */
const GZIP_HEADER = Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);
/** The last block of a deflate stream, empty (RFC 1951 section 3.2.3). */
const LAST_BLOCK = Buffer.of(3, 0);
/** Level 6 takes four times as long for output that is a quarter smaller. */
const DEFLATE = { ...OPTIONS, level: constants.Z_BEST_SPEED, finishFlush: constants.Z_FULL_FLUSH };

/** One gzip member whose parts are deflated apart: each ends at a byte, and refers to no earlier one. */
class GzipEncoder implements StreamEncoder {
  #header = GZIP_HEADER;
  #crc = 0;
  #size = 0;

  async encode(bytes: Uint8Array): Promise<Buffer> {
    const part = await promisify<Uint8Array, object, Buffer>(deflateRaw)(bytes, DEFLATE);
    this.#crc = crc32(bytes, this.#crc);
    this.#size += bytes.length;
    return this.#takeHeader(part);
  }

  pass({ size, crc }: EncodedPart): Buffer {
    this.#crc = crc32Combine(this.#crc, crc, size);
    this.#size += size;
    return this.#takeHeader(EMPTY);
  }

  finish(): Buffer {
    const trailer = Buffer.alloc(LAST_BLOCK.length + 8);
    LAST_BLOCK.copy(trailer);
    trailer.writeUInt32LE(this.#crc, LAST_BLOCK.length);
    trailer.writeUInt32LE(this.#size % 2 ** 32, LAST_BLOCK.length + 4);
    return this.#takeHeader(trailer);
  }

  #takeHeader(bytes: Buffer): Buffer {
    const header = this.#header;
    this.#header = EMPTY;
    return header.length === 0 ? bytes : Buffer.concat([header, bytes]);
  }
}
