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

import { GatewayError, listElements, quoted } from '@open-presence/protocol';

const STRICT = { rejectGarbageAfterEnd: true };

const DECODERS = {
  gzip: () => createGunzip(STRICT),
  deflate: () => createInflate(STRICT),
  br: () => createBrotliDecompress(STRICT),
  // A decoder holds its window, for which RFC 9659 allows 8 MiB.
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
} satisfies Record<string, () => Transform>;

type Encoding = keyof typeof DECODERS;

/** Each decoder takes memory. */
const MAX_ENCODINGS = 4;

/**
 * The body decoded; the request itself if it has no encoding. Destroying what is decoded leaves the
 * request as it is. Throws `invalid-parameter` for an unknown encoding.
 */
export function decodedBody(request: IncomingMessage): Readable {
  const header = request.headers['content-encoding'];
  if (header === undefined) return request;
  const encodings: Encoding[] = [];
  for (const element of listElements(header)) {
    const name = element
      .trim()
      .toLowerCase()
      .replace(/^x-(?=gzip$)/, '');
    if (name === '' || name === 'identity') continue;
    if (!isEncoding(name) || encodings.length === MAX_ENCODINGS) throw unknownEncoding(header);
    encodings.push(name);
  }
  let body: Readable = request;
  // Listed in the order in which they were applied.
  for (const encoding of encodings.toReversed()) body = connect(body, encoding, request);
  return body;
}

/** The error for a body that cannot be decoded. */
export function undecodable({ headers }: IncomingMessage, cause: unknown): GatewayError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const header = quoted(headers['content-encoding'] ?? '');
  return encodingError(
    `the body must be encoded as "Content-Encoding" says, but it is not ${header} (${reason})`,
  );
}

function connect(source: Readable, encoding: Encoding, request: IncomingMessage): Readable {
  const decoder = DECODERS[encoding]();
  // Destroying the request would close its connection.
  decoder.once('close', () => (source === request ? source.unpipe(decoder) : source.destroy()));
  source.once('error', (error) => decoder.destroy(error));
  source.once('close', () => {
    if (!source.readableEnded) decoder.destroy(new Error('the connection broke off'));
  });
  return source.pipe(decoder);
}

function isEncoding(name: string): name is Encoding {
  return Object.hasOwn(DECODERS, name);
}

const KNOWN = Object.keys(DECODERS);

function unknownEncoding(header: string): GatewayError {
  return encodingError(
    `"Content-Encoding" must list at most ${MAX_ENCODINGS} of ${KNOWN.join(', ')}, got ${quoted(header)}`,
  );
}

function encodingError(detail: string): GatewayError {
  const message = `Cannot read the body: ${detail}. Encode it anew, or send it without "Content-Encoding".`;
  const faults = [{ parameter: 'Content-Encoding', detail }];
  return new GatewayError('invalid-parameter', message, { faults, known: KNOWN });
}
