/** Request bodies: small ones are buffered, larger ones read as a stream. */
import type { IncomingMessage } from 'node:http';

/** Exactly one of the two is called, or none if the caller disconnects early. */
export interface BodyReader {
  /** Receives a body up to the given size, whole. */
  onSmall(bytes: Buffer): void;
  /** Receives a larger body from its start on. The iteration throws if the caller disconnects. */
  onLarge(chunks: AsyncIterable<Uint8Array>): void;
}

const EMPTY = Buffer.alloc(0);

/** Buffers a body up to `maxSize` bytes. Does not trust `Content-Length`. */
export function readBody(request: IncomingMessage, maxSize: number, reader: BodyReader): void {
  const buffered: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer): void => {
    buffered.push(chunk);
    size += chunk.length;
    if (size <= maxSize) return;
    request.pause();
    request.off('data', onData);
    request.off('end', onEnd);
    reader.onLarge(chunksOf(buffered, request));
  };
  const onEnd = (): void => {
    const [first = EMPTY] = buffered;
    reader.onSmall(buffered.length > 1 ? Buffer.concat(buffered, size) : first);
  };
  request.on('data', onData);
  request.on('end', onEnd);
}

async function* chunksOf(
  buffered: Buffer[],
  request: IncomingMessage,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* buffered.splice(0);
  // Destroying the request would close the connection, and lose a response that reports an error.
  yield* request.iterator({ destroyOnReturn: false });
}

/** Reads and discards the rest of a body, so that the connection can be reused. */
export function discardBody(request: IncomingMessage): void {
  request.on('error', () => {});
  request.resume();
}
