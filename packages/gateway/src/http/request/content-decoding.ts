/** Bodies with a `Content-Encoding` (RFC 9110 section 8.4), decoded as they are read. */
import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib';

import { GatewayError, quoted } from '@open-presence/protocol';

const STRICT = { rejectGarbageAfterEnd: true };
/** A decoder holds its window, for which RFC 9659 allows 8 MiB. */
const ZSTD = { ...STRICT, params: { [constants.ZSTD_d_windowLogMax]: 23 } };

const DECODERS: Readonly<Record<string, () => Transform>> = {
  // The strict one takes no second member (RFC 1952 section 2.2).
  gzip: () => createGunzip(),
  deflate: () => createInflate(STRICT),
  br: () => createBrotliDecompress(STRICT),
  zstd: () => createZstdDecompress(ZSTD),
};
const KNOWN = Object.keys(DECODERS);
const HEADER = 'Content-Encoding';

/**
 * The decoded body, or the request itself if it has no encoding. Destroying the result leaves the request as it
 * is. Throws `invalid-parameter` for an unknown encoding.
 */
export function decodedBody(request: IncomingMessage): Readable {
  const value = request.headers['content-encoding'] ?? '';
  const name = value.toLowerCase().replace('x-gzip', 'gzip');
  if (name === '' || name === 'identity') return request;
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (create === undefined)
    throw encodingError(`"${HEADER}" must be one of ${KNOWN.join(', ')}, got ${quoted(value)}`);
  const decoder = create();
  // Destroying the request would close its connection.
  decoder.once('close', () => request.unpipe(decoder));
  request.once('error', (error) => decoder.destroy(error));
  request.once('close', () => {
    if (!request.readableEnded) decoder.destroy(new Error('the connection broke off'));
  });
  return request.pipe(decoder);
}

/** The error for a body that cannot be decoded. */
export function undecodable({ headers }: IncomingMessage, cause: unknown): GatewayError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const value = quoted(headers['content-encoding'] ?? '');
  return encodingError(
    `the body must be encoded as "${HEADER}" says, but it is not ${value} (${reason})`,
  );
}

function encodingError(detail: string): GatewayError {
  const message = `Cannot read the body: ${detail}. Encode it anew, or send it without "${HEADER}".`;
  const faults = [{ parameter: HEADER, detail }];
  return new GatewayError('invalid-parameter', message, { faults, known: KNOWN });
}
