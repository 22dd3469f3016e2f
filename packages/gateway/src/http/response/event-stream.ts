/**
 * The open event streams.
 *
 * Owns how chunks are written to each stream, and keep-alive comments. Refuses to know what events
 * contain. Upholds that a stream whose reader stalls buffers no more than what was written last.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { disconnectAtEnd } from '../disconnect-at-end.ts';

/** Part of a stream, as it is written to the socket. */
export interface StreamChunk {
  /** A chunk of the chunked transfer coding (RFC 9112 section 7.1). */
  readonly chunk: Buffer;
  /** Offset of the payload in the chunk. */
  readonly payloadStart: number;
  /** The cursor to resume from; undefined where the chunk ends in the middle of an event. */
  readonly cursor: number | undefined;
  /** The seq of the entry within which the chunk ends. */
  readonly begun: number | undefined;
}

export function streamChunk(bytes: Uint8Array, cursor?: number, begun?: number): StreamChunk {
  const size = `${bytes.length.toString(16)}\r\n`;
  // Not from the pool: a view would keep the whole pool alive.
  const chunk = Buffer.allocUnsafeSlow(size.length + bytes.length + 2);
  chunk.write(size, 'latin1');
  chunk.set(bytes, size.length);
  chunk.write('\r\n', size.length + bytes.length, 'latin1');
  return { chunk, payloadStart: size.length, cursor, begun };
}

/** Proxies close connections that are silent, often after 30 s. */
const KEEP_ALIVE_MS = 15_000;
const CHECK_INTERVAL_MS = 1000;
const COMMENT = streamChunk(Buffer.from(':\n\n'));
const EMPTY = Buffer.alloc(0);

export class EventStreams {
  readonly #open = new Map<ServerResponse, EventStream>();
  /** Streams that others write to and end. */
  readonly #foreign = new Set<ServerResponse>();
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  /** The headers of the response must have been flushed. */
  add(response: ServerResponse): EventStream {
    const stream = new EventStream(response, () => this.#open.delete(response));
    if (!response.destroyed) this.#open.set(response, stream);
    if (this.#closed) stream.end();
    this.#timer ??= setInterval(() => this.#keepAlive(), CHECK_INTERVAL_MS).unref();
    return stream;
  }

  /** Counts a response as a stream that its caller writes to and ends. */
  count(response: ServerResponse): void {
    if (response.destroyed) return;
    this.#foreign.add(response);
    response.once('close', () => this.#foreign.delete(response));
    disconnectAtEnd(response);
  }

  /** How many are open. */
  get openCount(): number {
    return this.#open.size + this.#foreign.size;
  }

  /** How many of them have a reader who has not taken what was written. */
  get stalledCount(): number {
    let stalled = 0;
    for (const stream of this.#open.values()) if (stream.isStalled) stalled += 1;
    for (const response of this.#foreign) if (response.writableLength > 0) stalled += 1;
    return stalled;
  }

  has(response: ServerResponse): boolean {
    return this.#open.has(response) || this.#foreign.has(response);
  }

  /** Ends all streams. Readers reconnect with their cursors and miss nothing. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const stream of this.#open.values()) stream.end();
  }

  #keepAlive(): void {
    const silentSince = performance.now() - KEEP_ALIVE_MS;
    for (const stream of this.#open.values())
      if (stream.wroteAt < silentSince) stream.writeIfIdle(COMMENT);
  }
}

export class EventStream {
  readonly #response: ServerResponse;
  /** Set where chunks can be written as they are: letting Node frame each write costs 50 % more. */
  readonly #socket: Socket | undefined;
  readonly #ended = new AbortController();
  #wroteAt: number = performance.now();
  /** Whether the last chunk ended with a whole event. */
  #betweenEvents = true;

  constructor(response: ServerResponse, onClose: () => void) {
    this.#response = response;
    this.#socket = response.chunkedEncoding ? (response.socket ?? undefined) : undefined;
    const close = (): void => {
      this.#ended.abort();
      onClose();
    };
    response.once('close', close);
    disconnectAtEnd(response);
    if (response.destroyed) close();
  }

  /** Aborted when the stream has ended, whichever side ended it. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** On the clock of `performance.now()`. */
  get wroteAt(): number {
    return this.#wroteAt;
  }

  /** Whether something written is still buffered. */
  get isStalled(): boolean {
    return (this.#socket ?? this.#response).writableLength > 0;
  }

  /** Writes events, or part of a long one. */
  write(chunk: StreamChunk): void {
    this.#betweenEvents = chunk.cursor !== undefined;
    this.#send(chunk);
  }

  /** Writes events that may be lost: drops them in the middle of another, or while the reader stalls. */
  writeIfIdle(chunk: StreamChunk): void {
    if (this.#betweenEvents && !this.isStalled) this.#send(chunk);
  }

  /** Resolves when nothing is buffered, or the stream has ended. */
  async drained(): Promise<void> {
    const sink = this.#socket ?? this.#response;
    if (!this.isStalled || this.#ended.signal.aborted) return;
    // The callback of an empty write runs after all earlier writes.
    await new Promise<void>((resolve) => void sink.write(EMPTY, () => resolve()));
  }

  /** Does not wait for a reader who stalls: it resumes from its cursor, as after any other end. */
  end(): void {
    const { isStalled: stalls } = this;
    this.#ended.abort();
    if (stalls) this.#response.destroy();
    else this.#response.end();
  }

  #send({ chunk, payloadStart: from }: StreamChunk): void {
    if (this.#ended.signal.aborted) return;
    this.#wroteAt = performance.now();
    if (this.#socket === undefined) this.#response.write(chunk.subarray(from, -2));
    else this.#socket.write(chunk);
  }
}
