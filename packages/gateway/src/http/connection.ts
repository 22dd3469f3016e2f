/**
 * One connection, whose requests are handled one after another.
 *
 * Node parses and starts all requests of a packet at once. A connection gives the parser the bytes of
 * a request only when the response before is finished. So pipelined requests take no memory beyond
 * one read of their bytes, and a response is sent whole whatever follows it: an unknown method, bytes
 * that are no HTTP, or bytes behind the last request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { LongHead } from './long-head.ts';

const CR = 0x0d;
const LF = 0x0a;
/** Ends the head of a request, and a chunked body (RFC 9112 sections 2.1 and 7.1). */
const EMPTY_LINE = Buffer.of(CR, LF, CR, LF);
const CONTENT_LENGTH = ['Content-Length', 'content-length'].map((name) =>
  Buffer.from(`\r\n${name}: `),
);
/** The socket is paused when it holds more bytes of later requests. */
const MAX_HELD = 16 * 1024;
/** How long input is discarded before a caller that does not close is disconnected. */
const DISCARD_MS = 30_000;

export class Connection {
  readonly socket: Socket;
  readonly #parse: (bytes: NonSharedBuffer) => void;
  #request: IncomingMessage | undefined;
  #response: ServerResponse | undefined;
  /** Bytes of the current body that are still to come, if its length is known. */
  #bodyLeft = 0;
  /** How many bytes of an empty line the parsed bytes end with. */
  #matched = 0;
  /** Whether the bytes that were found last end a head, or a chunked body. */
  #isPartWhole = false;
  readonly #head = new LongHead();
  /** What follows the request that is being answered. */
  #held: NonSharedBuffer | undefined;
  #parsing = true;
  /** Bytes that were read and sent, and since when. */
  #moved = -1;
  #movedAt = 0;

  /** The HTTP server must have been given the socket. */
  constructor(socket: Socket) {
    this.socket = socket;
    const [parse] = socket.listeners('data');
    if (parse === undefined) throw new Error('The HTTP server does not listen to "data".');
    this.#parse = parse;
    socket.removeAllListeners('data');
    socket.on('data', (bytes: NonSharedBuffer) => {
      if (this.#held === undefined) this.#parseRequests(bytes);
      else this.#hold(Buffer.concat([this.#held, bytes]));
    });
  }

  /** The response that is being sent, or will be when its request was received. */
  get response(): ServerResponse | undefined {
    return this.#response;
  }

  /** Whether the body of the request is still to come. */
  get isReceiving(): boolean {
    return this.#request?.complete === false;
  }

  /**
   * For how many milliseconds the caller should have sent or read something, and did not. Measured
   * from the first call on.
   */
  stalledFor(now: number): number {
    const { bytesRead, bytesWritten, writableLength } = this.socket;
    const moved = bytesRead + bytesWritten - writableLength;
    const isExpected = writableLength > 0 || (this.isReceiving && !this.socket.isPaused());
    if (!isExpected || moved !== this.#moved) {
      this.#moved = moved;
      this.#movedAt = now;
    }
    return now - this.#movedAt;
  }

  /** To be called when the head of a request was parsed. */
  start(request: IncomingMessage, response: ServerResponse): void {
    this.#request = request;
    this.#response = response;
    const length = request.headers['content-length'];
    this.#bodyLeft = length === undefined ? 0 : Number(length);
    response.on('close', this.#finish);
  }

  /** To be called when no more requests can be parsed. */
  stopParsing(): void {
    this.#parsing = false;
    this.#held = undefined;
  }

  readonly #finish = (): void => {
    this.#request = this.#response = undefined;
    const held = this.#held;
    this.#held = undefined;
    // A response may have been the last one of the connection.
    if (held === undefined || !this.socket.writable) return;
    this.#parseRequests(held);
    if (this.#held === undefined) this.socket.resume();
  };

  /** Whether the next bytes begin a request. */
  get #isIdle(): boolean {
    const isBetween = this.#response === undefined && !this.#head.isIncomplete;
    return this.#parsing && isBetween && this.#matched === 0;
  }

  #parseRequests(bytes: NonSharedBuffer): void {
    if (this.#isIdle && isOneRequest(bytes)) {
      this.#parse(bytes);
      this.#bodyLeft = 0;
      return;
    }
    for (let start = 0; start < bytes.length;) {
      if (!this.#parsing) return;
      if (this.#response !== undefined && !this.isReceiving) {
        if (this.#response.shouldKeepAlive) this.#hold(bytes.subarray(start));
        else this.#discardRest();
        return;
      }
      const isHead = this.#response === undefined;
      const end = this.#endOfPart(bytes, start);
      const part = end - start === bytes.length ? bytes : bytes.subarray(start, end);
      const ready = isHead ? this.#head.take(part, this.#isPartWhole) : part;
      if (ready !== undefined) this.#parse(ready);
      start = end;
    }
  }

  #hold(bytes: NonSharedBuffer): void {
    this.#held = bytes;
    if (bytes.length > MAX_HELD) this.socket.pause();
  }

  /** Ignores what follows the last request. */
  #discardRest(): void {
    this.stopParsing();
    const { socket } = this;
    socket.destroySoon = () => {
      socket.end();
      discardInput(socket);
    };
  }

  /** Where the head or the body ends, or else the bytes. */
  #endOfPart(bytes: NonSharedBuffer, start: number): number {
    if (this.#bodyLeft > 0) {
      const end = Math.min(bytes.length, start + this.#bodyLeft);
      this.#bodyLeft -= end - start;
      return end;
    }
    let at = start;
    this.#isPartWhole = true;
    for (; this.#matched > 0 && at < bytes.length; at += 1)
      if (this.#endsLine(bytes[at])) return at + 1;
    const found = bytes.indexOf(EMPTY_LINE, at);
    if (found !== -1) return found + EMPTY_LINE.length;
    this.#isPartWhole = false;
    at = Math.max(at, bytes.length - EMPTY_LINE.length + 1);
    for (; at < bytes.length; at += 1) this.#endsLine(bytes[at]);
    return bytes.length;
  }

  /** Whether an empty line ends with this byte. */
  #endsLine(byte: number | undefined): boolean {
    const isExpected = byte === EMPTY_LINE[this.#matched];
    this.#matched = isExpected ? (this.#matched + 1) % EMPTY_LINE.length : Number(byte === CR);
    return isExpected && this.#matched === 0;
  }
}

/** Whether the bytes are a whole request with a body, and nothing else: they are parsed at once. */
function isOneRequest(bytes: NonSharedBuffer): boolean {
  const headEnd = bytes.indexOf(EMPTY_LINE);
  if (headEnd === -1) return false;
  for (const name of CONTENT_LENGTH) {
    const at = bytes.indexOf(name);
    if (at === -1 || at >= headEnd) continue;
    const start = at + name.length;
    const length = Number(bytes.toString('latin1', start, bytes.indexOf(CR, start)));
    return length === bytes.length - headEnd - EMPTY_LINE.length;
  }
  return false;
}

/** Closing while bytes arrive would reset the connection, and the caller would lose the response. */
export function discardInput(socket: Duplex): void {
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.on('error', () => {});
  const timer = setTimeout(() => socket.destroy(), DISCARD_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}
