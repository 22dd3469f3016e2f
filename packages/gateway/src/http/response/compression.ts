/** Compression of responses that are in memory. */
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib';

import type { Encoding } from '../negotiation.ts';

/** Smaller responses fit into one packet uncompressed. */
export const MIN_COMPRESSED_SIZE = 1024;
/** In bytes. Larger bodies would hold up the thread's other requests for more than a millisecond. */
const MAX_COMPRESSED_AT_ONCE = 64 * 1024;

/** A listing of 50 entries takes half the time of the default level, and is a twentieth larger. */
const GZIP = { level: 3 };
/** Brotli's default quality takes a hundred times as long for slightly smaller output. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } };

interface Compressor {
  atOnce(bytes: Uint8Array): Buffer;
  /** Off the event loop. */
  inPool(bytes: Uint8Array): Promise<Buffer>;
}

const COMPRESSORS: Record<Encoding, Compressor> = {
  zstd: {
    atOnce: (bytes) => zstdCompressSync(bytes),
    inPool: promisify<Uint8Array, Buffer>(zstdCompress),
  },
  br: {
    atOnce: (bytes) => brotliCompressSync(bytes, BROTLI),
    inPool: (bytes) => promisify<Uint8Array, object, Buffer>(brotliCompress)(bytes, BROTLI),
  },
  gzip: {
    atOnce: (bytes) => gzipSync(bytes, GZIP),
    inPool: (bytes) => promisify<Uint8Array, object, Buffer>(gzip)(bytes, GZIP),
  },
};

/** A small body is compressed here and now: handing it to the pool of threads would take longer. */
export function compress(encoding: Encoding, bytes: Uint8Array): Buffer | Promise<Buffer> {
  const compressor = COMPRESSORS[encoding];
  if (bytes.length <= MAX_COMPRESSED_AT_ONCE) return compressor.atOnce(bytes);
  return compressor.inPool(bytes);
}
