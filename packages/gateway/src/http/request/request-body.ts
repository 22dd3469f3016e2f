/**
 * Request bodies, decoded: small ones are buffered, larger ones read as a stream.
 *
 * A body ends with its caller, whatever of it is still to be decoded: so all work for it ends too.
 *
 * Invariant: No body is worked on after its caller has left.
 * Test: `packages/gateway/src/doors/rest/contribute-lines.test.ts` “are read no further
 *   once the caller has left”
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

import { GatewayError } from '@open-presence/protocol';

import { GrowingBuffer } from '../../growing-buffer.ts';
import { decodedBody, undecodable } from './content-decoding.ts';

/** A caller who has ended its half may still read, but has left if it gets nothing for this long. */
const SILENCE_MS = 1000;

/** Exactly one of these is called, or none if the caller disconnects early. */
export interface BodyReader {
  /** Receives a body up to the given size, whole. */
  onSmall(bytes: Buffer): void;
  /**
   * Receives a larger body from its start. The iteration throws if the caller disconnects, and
   * `invalid-parameter` if the body cannot be decoded.
   */
  onLarge(chunks: AsyncIterable<Buffer>): void;
  /** Receives `invalid-parameter` if the start of the body cannot be decoded. */
  onError(error: GatewayError): void;
}

/** Buffers a body up to `maxSize` bytes. Does not trust `Content-Length`. */
export function readBody(request: IncomingMessage, maxSize: number, reader: BodyReader): void {
  const buffer = new GrowingBuffer();
  const onData = (chunk: Buffer): void => {
    buffer.append(chunk);
    if (buffer.length <= maxSize) return;
    body.pause();
    body.off('data', onData);
    body.off('end', onEnd);
    body.off('error', onError);
    reader.onLarge(chunksOf(request, body, [buffer.bytes]));
  };
  const onEnd = (): void => reader.onSmall(buffer.bytes);
  const onError = (error: unknown): void => reader.onError(undecodable(request, error));
  let body: Readable;
  try {
    body = decodedBody(request);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    reader.onError(error);
    return;
  }
  body.on('data', onData);
  body.on('end', onEnd);
  if (body !== request) body.on('error', onError);
}

async function* chunksOf(
  request: IncomingMessage,
  body: Readable,
  received: Buffer[],
): AsyncGenerator<Buffer, void, undefined> {
  // Destroying the request would close the connection, and the caller would lose a response that reports an
  // error.
  const destroyOnReturn = body !== request;
  try {
    // Not held while the caller sends the rest.
    for (let first = received.shift(); first !== undefined; first = received.shift()) yield first;
    const hasLeft = watchCaller(request);
    const chunks: AsyncIterable<Buffer> = body.iterator({ destroyOnReturn });
    for await (const chunk of chunks) {
      if (hasLeft()) throw new GatewayError('unavailable', LEFT);
      yield chunk;
    }
  } catch (error) {
    if (body === request || error instanceof GatewayError) throw error;
    throw undecodable(request, error);
  } finally {
    if (destroyOnReturn) body.destroy();
  }
}

const LEFT = 'Cannot read the rest of the body: the caller has left.';

/** Returns what tells whether the caller has left. */
function watchCaller({ socket }: IncomingMessage): () => boolean {
  let sent = -1;
  let since = 0;
  return () => {
    if (!socket.readableEnded || socket.destroyed) return socket.destroyed;
    const isSilent = socket.bytesWritten === sent && socket.writableLength === 0;
    if (!isSilent) since = performance.now();
    sent = socket.bytesWritten;
    return performance.now() - since > SILENCE_MS;
  };
}

/**
 * The body as a stream, whatever its size. The iteration throws as in `onLarge`. Throws
 * `invalid-parameter` for an unknown encoding.
 */
export function bodyChunks(request: IncomingMessage): AsyncIterable<Buffer> {
  return chunksOf(request, decodedBody(request), []);
}

/** Reads and discards the rest of a body, so that the connection can be reused. */
export function discardBody(request: IncomingMessage): void {
  request.on('error', () => {});
  request.resume();
}
