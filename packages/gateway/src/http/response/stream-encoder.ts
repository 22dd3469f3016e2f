/**
 * Compression of streamed bodies, part by part.
 *
 * A compressor takes hundreds of kilobytes, for as long as its stream is open. zstd frames and parts of
 * a deflate stream can be compressed apart, so that a reader who stalls holds no compressor. Brotli
 * has no such form: few streams at a time are compressed with it, and others sent as they are.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { BrotliCompress } from 'node:zlib';
import { constants, crc32, createBrotliCompress, deflateRaw, zstdCompress } from 'node:zlib';
import { promisify } from 'node:util';

import { type Encoding, preferredStreamEncoding } from '../negotiation.ts';
import { crc32Combine } from './crc32-combine.ts';

/** Bytes that are compressed together. */
export const PART_SIZE: number = 128 * 1024;
const MAX_BROTLI_STREAMS = 16;

const EMPTY = Buffer.alloc(0);
/** Most parts are compressed in one call of the thread pool. */
const OPTIONS = { chunkSize: 64 * 1024 };

/** What a part encodes that was encoded before. */
export interface EncodedPart {
  /** In bytes. */
  readonly size: number;
  readonly crc: number;
}

export interface StreamEncoder extends Disposable {
  /** The bytes must not change until this resolves. */
  encode(bytes: Uint8Array): Promise<Uint8Array>;
  /** Returns what has to be sent before a part that was encoded apart. */
  pass(part: EncodedPart): Uint8Array;
  finish(): Promise<Uint8Array>;
}

/** The encoding of a stream, if it can be compressed now. */
export function streamEncoding({ headers }: IncomingMessage): Encoding | undefined {
  const encoding = preferredStreamEncoding(headers['accept-encoding']);
  return encoding === 'br' && BrotliEncoder.open >= MAX_BROTLI_STREAMS ? undefined : encoding;
}

export function createStreamEncoder(encoding: Encoding): StreamEncoder {
  switch (encoding) {
    case 'zstd':
      return new ZstdEncoder();
    case 'gzip':
      return new GzipEncoder();
    case 'br':
      return new BrotliEncoder();
  }
}

/** One frame after another (RFC 8878 section 3). */
class ZstdEncoder implements StreamEncoder {
  encode(bytes: Uint8Array): Promise<Buffer> {
    return promisify<Uint8Array, object, Buffer>(zstdCompress)(bytes, OPTIONS);
  }

  pass(): Buffer {
    return EMPTY;
  }

  async finish(): Promise<Buffer> {
    return EMPTY;
  }

  [Symbol.dispose](): void {}
}

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

  async finish(): Promise<Buffer> {
    const trailer = Buffer.alloc(LAST_BLOCK.length + 8);
    LAST_BLOCK.copy(trailer);
    trailer.writeUInt32LE(this.#crc, LAST_BLOCK.length);
    trailer.writeUInt32LE(this.#size % 2 ** 32, LAST_BLOCK.length + 4);
    return this.#takeHeader(trailer);
  }

  [Symbol.dispose](): void {}

  #takeHeader(bytes: Buffer): Buffer {
    const header = this.#header;
    this.#header = EMPTY;
    return header.length === 0 ? bytes : Buffer.concat([header, bytes]);
  }
}

const BROTLI = {
  ...OPTIONS,
  flush: constants.BROTLI_OPERATION_FLUSH,
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 },
};

class BrotliEncoder implements StreamEncoder {
  static open = 0;
  readonly #compressor: BrotliCompress = createBrotliCompress(BROTLI);
  readonly #parts: Buffer[] = [];

  constructor() {
    BrotliEncoder.open += 1;
    this.#compressor.on('data', (part: Buffer) => this.#parts.push(part));
  }

  async encode(bytes: Uint8Array): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#compressor.write(bytes, (error) => (error ? reject(error) : resolve()));
    await promise;
    return Buffer.concat(this.#parts.splice(0));
  }

  pass(): Buffer {
    throw new Error('Brotli has no parts that are encoded apart');
  }

  async finish(): Promise<Buffer> {
    this.#compressor.end();
    await once(this.#compressor, 'end');
    return Buffer.concat(this.#parts.splice(0));
  }

  [Symbol.dispose](): void {
    BrotliEncoder.open -= 1;
    this.#compressor.destroy();
  }
}
