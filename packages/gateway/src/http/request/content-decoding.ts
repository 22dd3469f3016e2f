/**
 * Bodies with a `Content-Encoding` (RFC 9110 section 8.4), or with a `Transfer-Encoding` beside
 * `chunked` (RFC 9112 section 6.1), decoded as they are read.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { constants, createBrotliDecompress, createInflate } from 'node:zlib';

import { GatewayError, quoted } from '@open-presence/protocol';

import { createMultiFrameUnzstd, createMultiMemberGunzip } from '../../decompression.ts';

const STRICT = { rejectGarbageAfterEnd: true };
/** A decoder holds its window, for which RFC 9659 allows 8 MiB. */
const ZSTD = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

const DECODERS = {
  gzip: () => createMultiMemberGunzip(),
  deflate: () => createInflate(STRICT),
  br: () => createBrotliDecompress(STRICT),
  zstd: () => createMultiFrameUnzstd(ZSTD),
} satisfies Record<string, () => Transform>;

type Encoding = keyof typeof DECODERS;

/** Finds the elements that are neither empty nor `identity`. There may be half a million. */
const APPLIED = /(?:^|,)\s*(?!identity\s*(?:,|$))([^,\s][^,]*)/gi;

/** Each decoder takes memory. */
const MAX_ENCODINGS = 4;

/**
 * The decoded body, or the request itself if it has no encoding. Destroying the result leaves the request as it
 * is. Throws `invalid-parameter` for an unknown encoding.
 */
export function decodedBody(request: IncomingMessage): Readable {
  const declared = declaredEncodings(request);
  if (declared.length === 0) return request;
  const encodings: Encoding[] = [];
  for (const { name: header, value } of declared) {
    for (const [, element = ''] of value.matchAll(APPLIED)) {
      const name = element
        .trim()
        .toLowerCase()
        .replace(/^x-(?=gzip$)/, '');
      if (!isEncoding(name) || encodings.length === MAX_ENCODINGS) {
        throw unknownEncoding(header, value);
      }
      encodings.push(name);
    }
  }
  let body: Readable = request;
  // Listed in the order in which they were applied.
  for (const encoding of encodings.toReversed()) body = connect(body, encoding, request);
  return body;
}

/** The error for a body that cannot be decoded. */
export function undecodable(request: IncomingMessage, cause: unknown): GatewayError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const declared = declaredEncodings(request);
  const names = declared.map(({ name }) => `"${name}"`).join(' and ');
  const values = declared.map(({ value }) => quoted(value)).join(' and ');
  return encodingError(
    declared.at(-1)?.name ?? CONTENT,
    `the body must be encoded as ${names} says, but it is not ${values} (${reason})`,
  );
}

const CONTENT = 'Content-Encoding';
const TRANSFER = 'Transfer-Encoding';
/** Node decodes it, and takes nothing else as the last element. */
const CHUNKED = /(?:^|,)\s*chunked\s*$/i;

interface DeclaredEncodings {
  readonly name: typeof CONTENT | typeof TRANSFER;
  readonly value: string;
}

/** The encodings that are left to decode, in the order in which they were applied. */
function declaredEncodings({ headers }: IncomingMessage): DeclaredEncodings[] {
  const content = headers['content-encoding'] ?? '';
  const transfer = headers['transfer-encoding']?.replace(CHUNKED, '') ?? '';
  const declared = [
    { name: CONTENT, value: content },
    { name: TRANSFER, value: transfer },
  ] as const;
  return declared.filter(({ value }) => value !== '');
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

function unknownEncoding(header: string, value: string): GatewayError {
  return encodingError(
    header,
    `"${header}" must list at most ${MAX_ENCODINGS} of ${KNOWN.join(', ')}, got ${quoted(value)}`,
  );
}

function encodingError(header: string, detail: string): GatewayError {
  const message = `Cannot read the body: ${detail}. Encode it anew, or send it without "${header}".`;
  const faults = [{ parameter: header, detail }];
  return new GatewayError('invalid-parameter', message, { faults, known: KNOWN });
}
