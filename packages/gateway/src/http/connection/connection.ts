/**
 * One connection, whose requests are handled one after another.
 *
 * Node parses and starts all requests of a packet at once. A connection gives the parser the bytes of
 * a request only when the response before is finished. So pipelined requests take no memory beyond
 * one read of their bytes, and a response is sent whole whatever follows it: an unknown method, bytes
 * that are no HTTP, or bytes after the last request.
 *
 * Between two requests, a simple one is not given to the parser at all (`simple-exchange.ts`).
 *
 * Invariant: Bytes that are not HTTP are answered and harm no other request.
 * Test: `packages/gateway/src/http/http-listener.test.ts` “beyond the limit, … get a 400 that says
 *   to send a body” “a malformed request is answered after the valid one before it”
 * Test: `packages/gateway/src/http/connection/pipelining.test.ts` “are answered whole before …”
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { NodeParser } from './node-parser.ts';
import { isOneHead } from '../simple/repeated-get.ts';
import {
  ConnectionObserver,
  type FinishedCallback,
  MALFORMED,
  type RouteName,
} from '../request-observer.ts';
import { discardInput } from '../request/discard-input.ts';
import { isOneRequest, MessageFraming } from '../request/message-framing.ts';
import { type SimpleCallbacks, SimpleExchange } from '../simple/simple-exchange.ts';

/** The socket is paused when it holds more bytes of later requests. */
const MAX_HELD = 16 * 1024;

export interface ConnectionCallbacks extends SimpleCallbacks {
  /** Called with a `GET` that goes through it, once its handler was called. */
  remember(bytes: Buffer, request: IncomingMessage, route: RouteName): void;
  /** Called when the head of a request takes more than `MAX_HEADER_SIZE`. */
  headTooLong(socket: Socket): void;
  readonly finished: FinishedCallback | undefined;
}

export class Connection {
  readonly socket: Socket;
  readonly #callbacks: ConnectionCallbacks;
  readonly #observer: ConnectionObserver | undefined;
  /** Undefined once the connection was detached. */
  #parser: NodeParser | undefined;
  /** The request that is being answered, or whose body is still to come. */
  #request: IncomingMessage | undefined;
  #response: ServerResponse | undefined;
  readonly #simple: SimpleExchange;
  /** All bytes of the `GET` that is given to the parser, if they came by themselves. */
  #get: NonSharedBuffer | undefined;
  readonly #framing = new MessageFraming();
  /** Whether the caller has ended its half of the connection, and the parser does not know yet. */
  #hasEnded = false;
  /** Called when the connection has closed, if it was detached. */
  #closed: (() => void) | undefined;
  /** What follows the request that is being answered. */
  #held: NonSharedBuffer | undefined;
  #parsing = true;
  /** Whether bytes follow the last request. */
  #discards = false;
  /** The HTTP server must have been given the socket. */
  constructor(socket: Socket, callbacks: ConnectionCallbacks) {
    this.socket = socket;
    this.#callbacks = callbacks;
    this.#observer = callbacks.finished && new ConnectionObserver(socket, callbacks.finished);
    this.#parser = new NodeParser(socket);
    this.#simple = new SimpleExchange(socket, callbacks, this.#observer, {
      parse: (bytes) => this.#parseWhole(bytes),
      finish: this.#finish,
    });
    socket.on('data', this.#receive);
    // What follows the request that is being answered may be whole requests too.
    socket.on('end', () => {
      this.#hasEnded = true;
      this.#endIfParsed();
    });
    const destroySoon = socket.destroySoon.bind(socket);
    // The HTTP server calls it after the last response.
    socket.destroySoon = () => {
      if (this.isReceiving || this.#discards) {
        socket.end();
        discardInput(socket);
      } else {
        destroySoon();
      }
    };
  }

  readonly #receive = (bytes: NonSharedBuffer): void => {
    if (this.#held !== undefined) this.#hold(Buffer.concat([this.#held, bytes]));
    else if (this.#simple.isOpen) this.#hold(bytes);
    else this.#parseRequests(bytes);
  };

  /** Whether a response is being sent, or will be when its request was received. */
  get isResponding(): boolean {
    const isStreaming = this.isDetached && this.socket.writable;
    return this.#response !== undefined || this.#simple.isOpen || isStreaming;
  }

  /** Whether `node:http` has nothing to do with it any more. */
  get isDetached(): boolean {
    return this.#closed !== undefined;
  }

  /** Whether the request was answered before its body has arrived. */
  get isAnswered(): boolean {
    return this.isReceiving && (this.#response?.writableEnded ?? true);
  }

  /** Whether the body of the request is still to come. */
  get isReceiving(): boolean {
    return this.#request?.complete === false;
  }

  /**
   * Call it when the head of a request was parsed. Returns what responds, if the request is a simple one that
   * was handed over.
   */
  start(
    request: IncomingMessage,
    response: ServerResponse,
  ): ReturnType<SimpleExchange['takeRespond']> {
    this.#request = request;
    this.#response = response;
    const length = request.headers['content-length'];
    this.#framing.bodyLeft = length === undefined ? 0 : Number(length);
    response.on('close', this.#finish);
    const respond = this.#simple.takeRespond();
    if (respond === undefined) this.#observer?.start();
    return respond;
  }

  /** Call it with what answers the last request, after its handler was called. */
  answeredBy(route: RouteName): void {
    this.#observer?.answeredBy(route);
    const get = this.#get;
    this.#get = undefined;
    if (get !== undefined && this.#request !== undefined)
      this.#callbacks.remember(get, this.#request, route);
  }

  /** To be called when a response was written to the socket because the request cannot be parsed. */
  reportMalformed(status: number): void {
    this.#observer?.wrote(status);
    // Otherwise it answered a request whose body is malformed, which is reported at its end.
    if (this.#response === undefined) this.#observer?.finish('other', undefined, MALFORMED);
  }

  /**
   * Takes the socket from `node:http`, which keeps 20 KiB for each connection. The response, whose head was
   * sent, goes on as bytes of the socket, and is the last one of the connection. Returns false if that is
   * impossible. Calls back when the socket has closed.
   */
  detach(closed: () => void): boolean {
    const response = this.#response;
    if (response === undefined || this.isReceiving || !response.shouldKeepAlive) return false;
    const { socket } = this;
    this.#closed = closed;
    response.off('close', this.#finish);
    this.#parser?.release(response);
    this.#parser = this.#request = this.#response = this.#get = this.#held = undefined;
    socket.removeAllListeners('data').removeAllListeners('end');
    socket.on('data', ignore).on('error', ignore).on('end', destroyThis);
    if (socket.readableEnded) socket.destroy();
    return true;
  }

  /** To be called when the socket has closed. */
  close(): void {
    if (this.#closed === undefined) return;
    const { writableFinished } = this.socket;
    this.#observer?.finish('GET', { headersSent: true, statusCode: 200, writableFinished });
    this.#closed();
  }

  /** To be called when no more requests can be parsed. */
  stopParsing(): void {
    this.#parsing = false;
    this.#held = undefined;
  }

  readonly #finish = (): void => {
    if (this.isResponding)
      this.#observer?.finish(this.#request?.method ?? this.#simple.method, this.#response);
    // Otherwise the rest of its body comes next.
    if (!this.isReceiving) this.#request = undefined;
    this.#response = undefined;
    this.#simple.end();
    const held = this.#held;
    this.#held = undefined;
    // A response may have been the last one of the connection.
    if (held !== undefined && this.socket.writable) {
      this.#parseRequests(held);
      if (this.#held === undefined) this.socket.resume();
    }
    this.#endIfParsed();
  };

  #endIfParsed(): void {
    if (!this.#hasEnded || this.#held !== undefined || this.#simple.isOpen) return;
    this.#hasEnded = false;
    this.#parser?.end();
  }

  /** Whether the next bytes begin a request. */
  get #isIdle(): boolean {
    const isBetween = !this.isResponding && !this.isReceiving;
    return this.#parsing && isBetween && this.#framing.isAtStart;
  }

  #parseRequests(bytes: NonSharedBuffer): void {
    if (this.#isIdle) {
      if (this.#simple.start(bytes)) return;
      this.#get = isOneHead(bytes) ? bytes : undefined;
      if (isOneRequest(bytes)) {
        this.#parseWhole(bytes);
        return;
      }
    }
    for (let start = 0; start < bytes.length;) {
      if (!this.#parsing) return;
      if (this.#response !== undefined && !this.isReceiving) {
        if (this.#response.shouldKeepAlive) this.#hold(bytes.subarray(start));
        else {
          this.stopParsing();
          this.#discards = true;
        }
        return;
      }
      // The rest of a body may come after its answer.
      const isHead = this.#response === undefined && !this.isReceiving;
      const end = this.#framing.endOfPart(bytes, start);
      const part = end - start === bytes.length ? bytes : bytes.subarray(start, end);
      if (isHead && this.#framing.isHeadTooLong(part)) {
        this.#callbacks.headTooLong(this.socket);
        return;
      }
      this.#parser?.parse(part);
      start = end;
    }
  }

  /** Parses one whole request. */
  #parseWhole(bytes: NonSharedBuffer): void {
    this.#parser?.parse(bytes);
    this.#framing.bodyLeft = 0;
  }

  #hold(bytes: NonSharedBuffer): void {
    this.#held = bytes;
    if (bytes.length > MAX_HELD) this.socket.pause();
  }
}

function ignore(): void {}

function destroyThis(this: Socket): void {
  this.destroy();
}
