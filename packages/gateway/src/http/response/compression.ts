/** Compression of responses that are in memory. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';

import type { Encoding } from '../negotiation.ts';

/** Smaller responses fit into one packet uncompressed. */
export const MIN_COMPRESSED_SIZE = 1024;

/** Brotli's default quality takes a hundred times as long for slightly smaller output. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const COMPRESSORS: Record<Encoding, (bytes: Uint8Array) => Promise<Buffer>> = {
  zstd: promisify<Uint8Array, Buffer>(zstdCompress),
  br: (bytes) => promisify<Uint8Array, object, Buffer>(brotliCompress)(bytes, BROTLI),
  gzip: promisify<Uint8Array, Buffer>(gzip),
};

/** Compresses off the event loop. */
export function compress(encoding: Encoding, bytes: Uint8Array): Promise<Buffer> {
  return COMPRESSORS[encoding](bytes);
}
