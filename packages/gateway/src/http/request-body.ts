/** The body of a request: small ones whole, larger ones as they come. */
import type { IncomingMessage } from 'node:http';

/** Who is told of a body, exactly once unless it breaks off. */
export interface BodyReader {
  /** It has come, whole, and is small. */
  onSmall(bytes: Buffer): void;
  /** It is larger than that: everything from its start on. Ends by throwing if it breaks off. */
  onLarge(chunks: AsyncIterable<Uint8Array>): void;
}

const EMPTY = Buffer.alloc(0);

/**
 * Reads a body up to `small` bytes, whatever length it claims to have. A caller that goes away
 * meanwhile is forgotten.
 */
export function readBody(request: IncomingMessage, small: number, reader: BodyReader): void {
  const held: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer): void => {
    held.push(chunk);
    size += chunk.length;
    if (size <= small) return;
    request.pause();
    request.off('data', onData);
    request.off('end', onEnd);
    reader.onLarge(chunksOf(held, request));
  };
  const onEnd = (): void => {
    const [first = EMPTY] = held;
    reader.onSmall(held.length > 1 ? Buffer.concat(held, size) : first);
  };
  request.on('data', onData);
  request.on('end', onEnd);
}

async function* chunksOf(
  held: Buffer[],
  request: IncomingMessage,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* held.splice(0);
  // Destroying it would cut the connection, and with it the answer that says what is wrong.
  yield* request.iterator({ destroyOnReturn: false });
}

/** Lets the rest of a body come in, and forgets it, so that the connection can be used again. */
export function discardBody(request: IncomingMessage): void {
  request.on('error', () => {});
  request.resume();
}
