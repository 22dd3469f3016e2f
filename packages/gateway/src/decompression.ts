/** Strict decoders of what may have several parts, which the strict ones of Node do not decode. */
import type { Transform } from 'node:stream';
import {
  createGunzip,
  createZstdDecompress,
  zstdDecompressSync,
  type ZlibOptions,
  type ZstdOptions,
} from 'node:zlib';

/**
 * Decodes any number of members (RFC 1952 section 2.2). Bytes after them are an error, unless they begin with a
 * zero: there, Node stops decoding.
 */
export function createMultiMemberGunzip(options: ZlibOptions = {}): Transform {
  const decoder = createGunzip(options);
  const push = decoder.push.bind(decoder);
  decoder.push = (chunk) => {
    // Bytes that are being decoded are counted until all of them are.
    if (chunk !== null || decoder.writableLength === 0) return push(chunk);
    decoder.destroy(new Error('a zero follows its last member'));
    return false;
  };
  return decoder;
}

const STRICT = { rejectGarbageAfterEnd: true };
/** Both of nothing. */
const TWO_FRAMES = Buffer.from('KLUv/SAAAQAAKLUv/SAAAQAA', 'base64');
/** Before Node 26, a decoder ends after the first frame of a chunk. */
const DECODES_FRAMES = decodesFrames();

function decodesFrames(): boolean {
  try {
    zstdDecompressSync(TWO_FRAMES, STRICT);
    return true;
  } catch {
    return false;
  }
}

/** Decodes any number of frames (RFC 8878 section 3). */
export function createMultiFrameUnzstd(options: ZstdOptions = {}): Transform {
  if (DECODES_FRAMES) return createZstdDecompress({ ...options, ...STRICT });
  const decoder = createZstdDecompress(options);
  const push = decoder.push.bind(decoder);
  decoder.push = (chunk) => (chunk === null && decoder.writableLength > 0 ? true : push(chunk));
  const decode = decoder._transform.bind(decoder);
  decoder._transform = (chunk: Buffer, encoding, done) => {
    const start = decoder.bytesWritten;
    decode(chunk, encoding, (error) => {
      const rest = chunk.subarray(decoder.bytesWritten - start);
      if (error instanceof Error || rest.length === 0) done(error);
      else decoder._transform(rest, encoding, done);
    });
  };
  return decoder;
}
