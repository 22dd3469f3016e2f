/**
 * Streamed bodies: sent as fast as the caller reads, with fair turns between callers, and compressed
 * where the caller accepts that.
 */
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';

import { yieldPeriodically } from '../../fair-turns.ts';
import { createCompressor } from './compression.ts';
import type { Encoding } from '../negotiation.ts';
import type { HttpExchange } from './not-modified.ts';

/** Smaller chunks are buffered and written together. */
const MIN_WRITE_SIZE = 64 * 1024;

/**
 * Sends the body of a response whose headers were written; none for `HEAD`. Stops reading when the
 * caller disconnects. The source may reuse the memory of a chunk once it is asked for the next.
 */
export async function sendBody(
  { request, response }: HttpExchange,
  encoding: Encoding | undefined,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const writer = new ResponseWriter(response, encoding);
  for await (const chunk of chunks) if (!(await writer.write(chunk))) return;
  await writer.end();
}

class ResponseWriter {
  readonly #response: ServerResponse;
  readonly #sink: Writable;
  #buffered: Uint8Array[] = [];
  #size = 0;
  readonly #yieldTurn = yieldPeriodically();

  constructor(response: ServerResponse, encoding: Encoding | undefined) {
    this.#response = response;
    this.#sink = encoding === undefined ? response : compressTo(response, encoding);
  }

  /** Resolves when the next chunk may be written; to false when the caller has disconnected. */
  async write(chunk: Uint8Array): Promise<boolean> {
    // Chunks below the high-water mark may stay buffered, here or in the sink, while the source
    // reuses their memory. Larger ones have left the sink once it has drained, which is awaited.
    const isLarge = chunk.length >= Math.max(MIN_WRITE_SIZE, this.#sink.writableHighWaterMark);
    this.#buffered.push(isLarge ? chunk : Buffer.from(chunk));
    this.#size += chunk.length;
    return this.#size < MIN_WRITE_SIZE || (await this.#flush());
  }

  /** Resolves when everything was handed to the sink. */
  async end(): Promise<void> {
    if (this.#size === 0 || (await this.#flush())) this.#sink.end();
  }

  async #flush(): Promise<boolean> {
    const buffered = this.#buffered;
    this.#buffered = [];
    this.#size = 0;
    // A fast socket takes everything at once, so that nothing else here would ever wait.
    await this.#yieldTurn();
    if (this.#response.destroyed) return false;
    // Node sends together what is written in one tick. A response that we corked would neither
    // report that it is full nor emit `drain`.
    let hasCapacity = true;
    for (const chunk of buffered) hasCapacity = this.#sink.write(chunk);
    if (!hasCapacity) await drained(this.#sink, this.#response);
    return !this.#response.destroyed;
  }
}

function compressTo(response: ServerResponse, encoding: Encoding): Writable {
  const sink = createCompressor(encoding);
  sink.on('error', () => response.destroy());
  response.once('close', () => sink.destroy());
  sink.pipe(response);
  return sink;
}

/** Resolves when the sink takes more, or the caller has disconnected. */
export function drained(sink: Writable, response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    sink.off('drain', done);
    response.off('close', done);
    resolve();
  };
  sink.once('drain', done);
  response.once('close', done);
  if (response.destroyed) done();
  return promise;
}
