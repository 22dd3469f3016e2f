/**
 * Where a long answer goes out: at the pace of the caller, with fair turns between callers, and
 * through a compressor if one is wished for.
 */
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';

import { yieldPeriodically } from '../fair-turns.ts';
import type { Encoding } from './negotiation.ts';
import { createCompressor } from './compression.ts';

/** Pieces smaller than this wait for others to go out with. */
const TOGETHER = 64 * 1024;

export class ResponseWriter {
  readonly #response: ServerResponse;
  readonly #sink: Writable;
  #waiting: Uint8Array[] = [];
  #size = 0;
  readonly #fair = yieldPeriodically();

  /** The head of the answer must have been written. */
  constructor(response: ServerResponse, encoding: Encoding | undefined) {
    this.#response = response;
    this.#sink = encoding === undefined ? response : through(response, encoding);
  }

  /** Resolves when more may come; to false when nobody listens any more. */
  async write(piece: Uint8Array): Promise<boolean> {
    // What is shorter than the sink's mark may wait here or there, while its bytes are the reading's
    // to change. What is longer is gone once the sink has drained, which is waited for.
    const passes = piece.length >= Math.max(TOGETHER, this.#sink.writableHighWaterMark);
    this.#waiting.push(passes ? piece : Buffer.from(piece));
    this.#size += piece.length;
    return this.#size < TOGETHER || (await this.#flush());
  }

  /** Resolves when everything was handed over. */
  async end(): Promise<void> {
    if (this.#size === 0 || (await this.#flush())) this.#sink.end();
  }

  async #flush(): Promise<boolean> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#size = 0;
    // A socket may take everything at once, so that nothing else would make this wait.
    await this.#fair();
    if (this.#response.destroyed) return false;
    // Node sends what is written in one turn together. Corked by us, an answer would tell neither
    // that it is full nor that it is empty again.
    let takesMore = true;
    for (const piece of waiting) takesMore = this.#sink.write(piece);
    if (!takesMore) await drained(this.#sink, this.#response);
    return !this.#response.destroyed;
  }
}

function through(response: ServerResponse, encoding: Encoding): Writable {
  const sink = createCompressor(encoding);
  sink.on('error', () => response.destroy());
  response.once('close', () => sink.destroy());
  sink.pipe(response);
  return sink;
}

/** Resolves when the sink takes more, or the caller is gone. */
function drained(sink: Writable, response: ServerResponse): Promise<void> {
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
