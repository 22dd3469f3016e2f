/**
 * The event streams that are open: what is written to each, and that those which are silent are
 * kept awake. A stream keeps nothing that its reader has not taken but the slice under way.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A piece of a stream, as it is written. */
export interface StreamChunk {
  /** A chunk of HTTP/1.1 (RFC 9112 section 7.1), with its size and CR LF. */
  readonly chunk: Buffer;
  /** Offset of the payload in the chunk. */
  readonly payloadStart: number;
  /** The cursor to resume from, where the chunk ends with a whole event; else undefined. */
  readonly cursor: number | undefined;
}

export function streamChunk(bytes: Uint8Array, upTo?: number): StreamChunk {
  const size = `${bytes.length.toString(16)}\r\n`;
  // Not from the pool: a view would keep the whole pool alive.
  const chunk = Buffer.allocUnsafeSlow(size.length + bytes.length + 2);
  chunk.write(size, 'latin1');
  chunk.set(bytes, size.length);
  chunk.write('\r\n', size.length + bytes.length, 'latin1');
  return { chunk, payloadStart: size.length, cursor: upTo };
}

/** Proxies close what is silent for longer, often after 30 s. */
const SILENCE_MS = 15_000;
const LOOK_EVERY_MS = 1000;
const COMMENT = streamChunk(Buffer.from(':\n\n'));
const NOTHING = Buffer.alloc(0);

/** All that are open at a door. */
export class EventStreams {
  readonly #open = new Set<EventStream>();
  readonly #shutdown = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  /** Aborted when the gateway stops: whatever waits for new entries ends then. */
  get shutdown(): AbortSignal {
    return this.#shutdown.signal;
  }

  /** The head of the answer must have been flushed. */
  add(response: ServerResponse): EventStream {
    const stream = new EventStream(response, () => this.#open.delete(stream));
    this.#open.add(stream);
    if (this.#shutdown.signal.aborted) stream.end();
    this.#timer ??= setInterval(() => this.#keepAlive(), LOOK_EVERY_MS).unref();
    return stream;
  }

  /** Ends all streams: their readers reconnect with their cursors and lose nothing. */
  close(): void {
    this.#shutdown.abort();
    clearInterval(this.#timer);
    for (const stream of this.#open) stream.end();
  }

  #keepAlive(): void {
    const since = performance.now() - SILENCE_MS;
    for (const stream of this.#open) if (stream.wroteAt < since) stream.writeIfIdle(COMMENT);
  }
}

export class EventStream {
  readonly #response: ServerResponse;
  /** Where chunks can be written as they are: framing each write anew would cost half as much again. */
  readonly #socket: Socket | undefined;
  readonly #ended = new AbortController();
  #wroteAt: number = performance.now();
  /** Whether no entry has begun that has not ended. */
  #between = true;

  constructor(response: ServerResponse, closed: () => void) {
    this.#response = response;
    this.#socket = response.chunkedEncoding ? (response.socket ?? undefined) : undefined;
    const close = (): void => {
      this.#ended.abort();
      closed();
    };
    response.once('close', close);
    if (response.destroyed) close();
  }

  /** Aborted when the stream has ended, whoever ended it. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  get wroteAt(): number {
    return this.#wroteAt;
  }

  /** Whether the reader has left something of what was written. */
  get isStalled(): boolean {
    return (this.#socket ?? this.#response).writableLength > 0;
  }

  /** Writes part of an entry, or several entries. */
  write(slice: StreamChunk): void {
    this.#between = slice.cursor !== undefined;
    this.#send(slice);
  }

  /** Writes what is no entry: dropped in the middle of an entry, or while the reader stalls. */
  writeIfIdle(slice: StreamChunk): void {
    if (this.#between && !this.isStalled) this.#send(slice);
  }

  /** Resolves when everything has gone out, or the stream has ended. */
  async drained(): Promise<void> {
    const sink = this.#socket ?? this.#response;
    if (!this.isStalled || this.#ended.signal.aborted) return;
    // Its callback comes after those of all that was written before.
    await new Promise<void>((resolve) => void sink.write(NOTHING, () => resolve()));
  }

  /** A reader who stalls is not waited for: it goes on where it was, as after any other end. */
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
