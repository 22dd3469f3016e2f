/**
 * The open event streams.
 *
 * Owns how chunks are written to each stream, and keep-alive comments. Refuses to know what events
 * contain. Upholds that a stream whose reader stalls buffers no more than what was written last.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { disconnectAtEnd } from '../connection/disconnect-at-end.ts';
import { discardInput } from '../request/discard-input.ts';
import { COMMON_HEADERS, type Headers, NO_STORE } from './headers.ts';

/** Sent before the events of any stream. */
export const EVENT_STREAM_HEADERS: Headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Keeps proxies from buffering the stream.
  'X-Accel-Buffering': 'no',
  ...NO_STORE,
  ...COMMON_HEADERS,
};

/** Part of a stream, as it is written to the socket. */
export interface StreamChunk {
  /** A chunk of the chunked transfer coding (RFC 9112 section 7.1). */
  readonly chunk: Buffer;
  /** Offset of the payload in the chunk. */
  readonly payloadStart: number;
  /** The cursor to resume from. Undefined if the chunk ends in the middle of an event. */
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
/** Ends the chunked transfer coding. */
const LAST_CHUNK = '0\r\n\r\n';

/** Takes the socket of a response from `node:http`. Returns false if that is impossible. */
type Detach = (response: ServerResponse, closed: () => void) => boolean;

export class EventStreams {
  readonly #detach: Detach | undefined;
  readonly #open = new Map<Socket, EventStream>();
  /** Streams that others write to and end. */
  readonly #foreign = new Map<Socket, ServerResponse>();
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(detach?: Detach) {
    this.#detach = detach;
  }

  /**
   * The headers of the response must have been flushed. `isEndless`: only the reader, a fault or the gateway's
   * stop can end the stream.
   */
  add(response: ServerResponse, isEndless = false): EventStream {
    const { socket } = response;
    if (socket === null || response.destroyed) return new EventStream(undefined);
    const stream = new EventStream(socket, response);
    this.#open.set(socket, stream);
    const close = (): void => {
      this.#open.delete(socket);
      stream.closed();
    };
    if (isEndless && this.#detach?.(response, close) === true) {
      stream.detached();
    } else {
      response.once('close', close);
      disconnectAtEnd(response);
    }
    if (this.#closed) stream.end();
    this.#timer ??= setInterval(() => this.#keepAlive(), CHECK_INTERVAL_MS).unref();
    return stream;
  }

  /** Counts a response as a stream that its caller writes to and ends. */
  count(response: ServerResponse): void {
    const { socket } = response;
    if (socket === null || response.destroyed) return;
    this.#foreign.set(socket, response);
    response.once('close', () => this.#foreign.delete(socket));
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
    for (const response of this.#foreign.values()) if (response.writableLength > 0) stalled += 1;
    return stalled;
  }

  /** Whether a stream is sent to the socket. */
  has(socket: Socket): boolean {
    return this.#open.has(socket) || this.#foreign.has(socket);
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
  readonly #socket: Socket | undefined;
  /** Chunks are written to the socket as they are: if Node framed each write, it would cost 50 % more. */
  readonly #isChunked: boolean;
  /** Undefined once the socket was detached. */
  #response: ServerResponse | undefined;
  #isEnded = false;
  /** Made when somebody asks for it: most streams only wait in their group. */
  #ended: AbortController | undefined;
  /** Called when the stream ends. */
  onEnd: (() => void) | undefined;
  /** Called after each chunk that ends with a whole event. */
  onEventEnd: (() => void) | undefined;
  /** What `end` writes if it can be read as a whole event. */
  lastChunk: StreamChunk | undefined;
  /** On the clock of `performance.now()`. */
  wroteAt: number = performance.now();
  /** Whether the last chunk ended with a whole event. */
  #betweenEvents = true;

  /** `socket`: undefined where it is closed already. */
  constructor(socket: Socket | undefined, response?: ServerResponse) {
    this.#socket = socket;
    this.#response = response;
    this.#isChunked = response?.chunkedEncoding === true;
    if (socket === undefined) this.closed();
  }

  /** To be called when the socket does not belong to the response any more. */
  detached(): void {
    this.#response = undefined;
  }

  /** To be called when nothing can be written any more. */
  closed(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#ended?.abort();
    this.onEnd?.();
  }

  /** Whether the stream has ended, whichever side ended it. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Aborted when the stream has ended. */
  get ended(): AbortSignal {
    this.#ended ??= new AbortController();
    if (this.#isEnded) this.#ended.abort();
    return this.#ended.signal;
  }

  /** Whether something written is still buffered. */
  get isStalled(): boolean {
    return (this.#socket?.writableLength ?? 0) > 0;
  }

  /** Writes events, or part of a long one. */
  write(chunk: StreamChunk): void {
    this.#betweenEvents = chunk.cursor !== undefined;
    this.#send(chunk);
    if (this.#betweenEvents) this.onEventEnd?.();
  }

  /** Writes events that may be lost. Returns false in the middle of another event, and while the reader stalls. */
  writeIfIdle(chunk: StreamChunk): boolean {
    const isIdle = this.#betweenEvents && !this.isStalled;
    if (isIdle) this.#send(chunk);
    return isIdle;
  }

  /** Resolves when nothing is buffered, or the stream has ended. */
  async drained(): Promise<void> {
    if (!this.isStalled || this.#isEnded) return;
    // The callback of an empty write runs after all earlier writes.
    await new Promise<void>((resolve) => void this.#socket?.write(EMPTY, () => resolve()));
  }

  /** Does not wait for a reader who stalls: it resumes from its cursor, as after any other end. */
  end(): void {
    const { isStalled: stalls } = this;
    if (this.lastChunk !== undefined) this.writeIfIdle(this.lastChunk);
    this.closed();
    if (stalls) this.#socket?.destroy();
    else if (this.#response !== undefined) this.#response.end();
    else if (this.#socket?.writable === true) {
      this.#socket.end(LAST_CHUNK);
      discardInput(this.#socket);
    }
  }

  /** Cuts the stream off. */
  destroy(): void {
    this.#socket?.destroy();
  }

  #send({ chunk, payloadStart: from }: StreamChunk): void {
    if (this.#isEnded) return;
    this.wroteAt = performance.now();
    this.#socket?.write(this.#isChunked ? chunk : chunk.subarray(from, -2));
  }
}
