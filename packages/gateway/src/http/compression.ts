/** Compression of answers: whole ones at once, streams so that what is written soon arrives. */
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from 'node:zlib';

import type { Encoding } from './negotiation.ts';

/** Shorter answers fit one packet as they are. */
export const MIN_COMPRESSED_SIZE = 1024;

/** Brotli's own default would take a hundred times as long for a little less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const whole: Record<Encoding, (bytes: Uint8Array) => Promise<Buffer>> = {
  zstd: promisify<Uint8Array, Buffer>(zstdCompress),
  br: (bytes) => promisify<Uint8Array, object, Buffer>(brotliCompress)(bytes, BROTLI),
  gzip: promisify<Uint8Array, Buffer>(gzip),
};

/** Compresses off the event loop. */
export function compress(encoding: Encoding, bytes: Uint8Array): Promise<Buffer> {
  return whole[encoding](bytes);
}

/** Each write is flushed. */
export function createCompressor(encoding: Encoding): Transform {
  switch (encoding) {
    case 'zstd':
      return createZstdCompress({ flush: constants.ZSTD_e_flush });
    case 'br':
      return createBrotliCompress({ ...BROTLI, flush: constants.BROTLI_OPERATION_FLUSH });
    case 'gzip':
      return createGzip({ flush: constants.Z_SYNC_FLUSH });
  }
}
