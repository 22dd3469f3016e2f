/**
 * Streamed bodies: sent as fast as the caller reads, with fair turns between callers, and compressed
 * where the caller accepts that.
 *
 * Upholds that a caller who stalls holds one piece of the body, or one compressed part of it, if the
 * source can give the rest again.
 *
 * Invariant: A slow caller is waited for in flat memory, and its read ends when it leaves.
 * Test: `packages/gateway/src/doors/rest/listing.test.ts` “reads at the pace of a slow caller, in
 *   flat memory, and stops when it disconnects”
 * Test: `test/live/stalled-listings.test.ts` “readers who stall in a listing get every byte when
 *   they read on”
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';

import { TurnQueue, Turns } from '../../fair-turns.ts';
import type { StreamEncoding } from '../negotiation.ts';
import type { HttpExchange } from './not-modified.ts';
import {
  createStreamEncoder,
  type EncodedPart,
  PART_SIZE,
  type StreamEncoder,
} from './stream-encoder.ts';

/**
 * Bytes that are written at once. What the system does not take stays in memory until the caller reads on. A
 * caller who has read more than the system buffers gets larger pieces.
 */
const PIECE_SIZE = 16 * 1024;
const LARGE_PIECE_SIZE = 64 * 1024;
const LARGE_AFTER = 64 * 1024 * 1024;
/** Smaller chunks are put together, to be encoded or to begin a body. */
const MIN_PART_SIZE = 32 * 1024;
/** Room for the size of a chunk (RFC 9112 section 7.1), and for its end. */
const CHUNK_HEAD = 8;
const CHUNK_END = Buffer.from('\r\n');
const EMPTY = Buffer.alloc(0);

/** Part of a body that is in no memory, in the encoding of the response. */
interface EncodedChunk {
  readonly length: number;
  /** Size and CRC-32 of the decoded bytes. */
  readonly compressed: EncodedPart;
  /** Fills the target with the bytes from `from` on. */
  read(target: Uint8Array, from: number): Promise<void>;
}

/** The source of a body. It may reuse the memory of a chunk once it is asked for the next. */
export interface BodySource extends AsyncIterable<Uint8Array | EncodedChunk> {
  /**
   * Called while the caller stalls. Returns whether the source can give the last `unsent` bytes of its last
   * chunk again, so that they need not be held.
   */
  pause?(unsent: number): boolean;
}

/**
 * Sends the body of a response whose headers were written, except for `HEAD`. Stops reading when the caller
 * disconnects.
 */
export async function sendBody(
  { request, response }: HttpExchange,
  encoding: StreamEncoding | undefined,
  source: BodySource,
): Promise<void> {
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const encoder = encoding === undefined ? undefined : createStreamEncoder(encoding);
  const writer = new BodyWriter(response, encoder);
  const chunks = source[Symbol.asyncIterator]();
  try {
    // Each call waits where nothing refers to a chunk any more.
    while (await writer.writeNext(chunks, source));
    await writer.end();
  } finally {
    await chunks.return?.();
  }
}

/** Bodies that have a chunk in memory and do not wait for their callers. */
const MAX_ACTIVE = 4;
let active = 0;
const waiting = new TurnQueue();

async function activate(had: number): Promise<void> {
  if (active === MAX_ACTIVE) await waiting.wait(had);
  else active += 1;
}

function deactivate(): void {
  if (waiting.length > 0) waiting.resumeNext();
  else active -= 1;
}

/** The memory of the last piece, unless a socket still has it. Garbage of this size would pile up. */
let spare: Buffer | undefined;

/** Puts small chunks together, cuts large ones into parts, encodes these, and sends them in pieces. */
class BodyWriter {
  readonly #response: ServerResponse;
  readonly #socket: Socket | null;
  readonly #encoder: StreamEncoder | undefined;
  readonly #turns = new Turns();
  #buffered: Uint8Array[] = [];
  #size = 0;
  #sent = 0;
  /** What was encoded and not yet sent. */
  #encoded: Uint8Array = EMPTY;

  constructor(response: ServerResponse, encoder: StreamEncoder | undefined) {
    this.#response = response;
    this.#socket = response.socket;
    this.#encoder = encoder;
    response.flushHeaders();
  }

  /** Writes until the caller stalls or the turn is over. Resolves with whether there may be more. */
  async writeNext(
    chunks: AsyncIterator<Uint8Array | EncodedChunk>,
    source: BodySource,
  ): Promise<boolean> {
    await this.#activate();
    try {
      if (this.#isOver) return false;
      this.#sendEncoded();
      while (!this.#mustWait) if (!(await this.#writeChunk(chunks, source))) return false;
      if (this.#encoder === undefined) await this.#flush();
      source.pause?.(0);
      return true;
    } finally {
      deactivate();
    }
  }

  /**
   * Resolves when the caller takes more and it is this body's turn. The turn comes last: if many bodies became
   * ready one after another, nothing else would get a turn.
   */
  async #activate(): Promise<void> {
    await this.#drained();
    await activate(this.#turns.had);
    await this.#turns.next();
  }

  async #writeChunk(
    chunks: AsyncIterator<Uint8Array | EncodedChunk>,
    source: BodySource,
  ): Promise<boolean> {
    const step = await chunks.next();
    if (step.done === true || this.#response.destroyed) return false;
    const chunk = step.value;
    if (!(chunk instanceof Uint8Array)) return await this.#writeEncoded(chunk, source);
    if (chunk.length < this.#minPartSize) {
      this.#buffered.push(Buffer.from(chunk));
      this.#size += chunk.length;
      if (this.#size >= this.#minPartSize) await this.#flush();
      return true;
    }
    await this.#flush();
    for (let at = 0; at < chunk.length;) {
      const size = this.#encoder === undefined ? this.#pieceSize : PART_SIZE;
      await this.#write(chunk.subarray(at, at + size));
      at += size;
      if (!this.#mustWait) continue;
      if (source.pause?.(Math.max(0, chunk.length - at)) === true) break;
      await this.#wait();
    }
    return !this.#response.destroyed;
  }

  async #writeEncoded(part: EncodedChunk, source: BodySource): Promise<boolean> {
    await this.#flush();
    const before = this.#encoder?.pass(part.compressed) ?? EMPTY;
    this.#encoded = Buffer.concat([this.#encoded, before]);
    for (let at = 0; at < part.length;) {
      this.#sendEncoded();
      if (this.#encoded.length > 0 || this.#isStalled) await this.#wait();
      if (this.#response.destroyed) return false;
      const bytes = Buffer.allocUnsafe(Math.min(PART_SIZE, part.length - at));
      await part.read(bytes, at);
      at += bytes.length;
      this.#encoded = bytes;
      this.#sendEncoded();
      if (!this.#mustWait) continue;
      if (source.pause?.(part.length - at) === true) break;
      await this.#wait();
    }
    return !this.#response.destroyed;
  }

  get #mustWait(): boolean {
    return this.#encoded.length > 0 || this.#isStalled || this.#turns.isOver;
  }

  /** Waits until everything is sent, and for the next turn. */
  async #wait(): Promise<void> {
    do {
      deactivate();
      await this.#activate();
      this.#sendEncoded();
    } while (this.#encoded.length > 0 && !this.#response.destroyed);
  }

  /** Resolves when the caller has taken what was written, or has disconnected. */
  async #drained(): Promise<void> {
    const socket = this.#socket;
    if (socket === null || !this.#isStalled) return;
    // The callback of an empty write runs after all earlier writes.
    await new Promise<void>((resolve) => void socket.write(EMPTY, () => resolve()));
  }

  async end(): Promise<void> {
    if (this.#isOver) return;
    await activate(this.#turns.had);
    try {
      await this.#flush();
      const end = this.#encoder?.finish();
      if (end !== undefined) this.#encoded = Buffer.concat([this.#encoded, end]);
      if (this.#encoded.length > 0) this.#sendEncoded();
      if (this.#encoded.length > 0) await this.#wait();
    } finally {
      deactivate();
    }
    this.#response.end();
  }

  /** Whether the caller has disconnected. */
  get #isOver(): boolean {
    return this.#response.destroyed || this.#response.socket?.destroyed !== false;
  }

  /** Whether the system has not taken everything that was written. */
  get #isStalled(): boolean {
    return this.#socket !== null && this.#socket.writableLength > 0;
  }

  async #flush(): Promise<void> {
    if (this.#size === 0) return;
    const part = Buffer.concat(this.#buffered, this.#size);
    this.#buffered = [];
    this.#size = 0;
    await this.#write(part);
  }

  async #write(part: Uint8Array): Promise<void> {
    if (this.#encoder === undefined) {
      this.#sendPiece(part);
      return;
    }
    this.#encoded = Buffer.concat([this.#encoded, await this.#encoder.encode(part)]);
    this.#sendEncoded();
  }

  /** Sends what was encoded until the caller stalls. */
  #sendEncoded(): void {
    for (const size = this.#pieceSize; this.#encoded.length > 0 && !this.#isStalled;) {
      this.#sendPiece(this.#encoded.subarray(0, size));
      this.#encoded = this.#encoded.subarray(size);
    }
  }

  /** A part that is not encoded is a piece, which the socket may hold. */
  get #minPartSize(): number {
    return this.#encoder === undefined && this.#sent > 0 ? PIECE_SIZE : MIN_PART_SIZE;
  }

  get #pieceSize(): number {
    return this.#sent > LARGE_AFTER ? LARGE_PIECE_SIZE : PIECE_SIZE;
  }

  /** Copies the piece: the socket may hold it for long. */
  #sendPiece(piece: Uint8Array): void {
    this.#sent += piece.length;
    const size = CHUNK_HEAD + piece.length + CHUNK_END.length;
    const memory =
      spare !== undefined && spare.length >= size ? spare : Buffer.allocUnsafeSlow(size);
    spare = undefined;
    memory.set(piece, CHUNK_HEAD);
    this.#sendFramed(memory, piece.length);
    if (!this.#isStalled) spare = memory;
  }

  /** Sends the bytes that follow the room for the head of a chunk. */
  #sendFramed(memory: Buffer, length: number): void {
    const end = CHUNK_HEAD + length;
    if (!this.#response.chunkedEncoding) {
      this.#socket?.write(memory.subarray(CHUNK_HEAD, end));
      return;
    }
    const head = `${length.toString(16)}\r\n`;
    const start = CHUNK_HEAD - head.length;
    memory.write(head, start, 'latin1');
    memory.set(CHUNK_END, end);
    this.#socket?.write(memory.subarray(start, end + CHUNK_END.length));
  }
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
