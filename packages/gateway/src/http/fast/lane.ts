/**
 * One connection. While its requests are simple ones, the lane reads them by itself, one after another, and
 * answers them on the bare socket: fast where a route can, else by the objects of `node:http` without its parser.
 * At the first other request, the socket goes to `node:http` for good, with all bytes that are not answered.
 *
 * Invariant: A request in the lane is answered as through `node:http`, after those before it.
 * Test: `packages/gateway/src/http/fast/lane.test.ts` “of both kinds are answered in order, wherever
 *   packets divide them” “that could be read in two ways are refused, and end the connection”
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { GrowingBuffer } from '../../growing-buffer.ts';
import { IncomingMessage, ServerResponse as Response } from '../connection/node-http.ts';
import type { ClientError } from '../connection/malformed-request.ts';
import { type FinishedCallback, Observation, type RouteName } from '../request-observer.ts';
import { discardInput } from '../request/discard-input.ts';
import type { CachedResponse } from '../response/response-cache.ts';
import { type FastPost, fastPostIn, type FastPostResponder } from './fast-post.ts';
import { type Head, type Message, messageIn, parseHead } from './head.ts';
import { rawCached, rawResponse } from './raw-response.ts';
import type { RepeatedGet } from './repeated-gets.ts';

type Respond = NonNullable<Parameters<FastPostResponder['handOver']>[0]>;
type Request = InstanceType<typeof IncomingMessage>;

export interface LaneCallbacks {
  /** Returns undefined for a request that its route must answer. */
  fastPost(post: FastPost, responder: FastPostResponder): RouteName | undefined;
  /** By the head of a `GET`. */
  repeatedGet(head: string): RepeatedGet | undefined;
  /** Called with a `GET` of a plain head, once its handler was called. */
  remember(head: string, request: Request, route: RouteName): void;
  /** Returns what answers the request. */
  request(request: Request, response: ServerResponse): RouteName;
  malformed(error: ClientError, socket: Socket): void;
  /** Gives the socket to `node:http`. */
  handOver(socket: Socket): void;
  readonly isStopping: () => boolean;
  readonly finished: FinishedCallback | undefined;
}

/** Node's error for a caller that ends within a request. */
const CUT_OFF = Object.assign(new Error('Request ended early'), { code: 'HPE_INVALID_EOF_STATE' });

export class Lane implements FastPostResponder {
  readonly socket: Socket;
  readonly #callbacks: LaneCallbacks;
  /** The start of a request whose body is still to come. */
  #partial: GrowingBuffer | undefined;
  /** The request that is being answered, undefined between two. */
  #message: Message | undefined;
  #bytes: Buffer | undefined;
  #observation: Observation | undefined;
  /** What answers it, if it is not answered fast. */
  #response: ServerResponse | undefined;
  #hasEnded = false;
  /** Called when the connection has closed, if a stream is all that is left of it. */
  #detached: (() => void) | undefined;
  /** What `node:http` answers, once it has the socket. */
  readonly #others = new Map<ServerResponse, Request>();

  constructor(socket: Socket, callbacks: LaneCallbacks) {
    this.socket = socket;
    this.#callbacks = callbacks;
    socket.on('data', this.#receive).on('end', this.#end).on('drain', this.#drain);
    socket.on('error', ignore);
  }

  /** Whether a request is being answered, or received by `node:http`. */
  get isResponding(): boolean {
    const isStreaming = this.#detached !== undefined && this.socket.writable;
    return this.#message !== undefined || this.#others.size > 0 || isStreaming;
  }

  /** Whether the rest of a body is waited for. */
  get isReceiving(): boolean {
    const isCut = [...this.#others.values()].some(({ complete }) => !complete);
    return isCut || this.#partial !== undefined;
  }

  /** Whether all requests were answered, one of them before its body has arrived. */
  get isAnsweredEarly(): boolean {
    return [...this.#others].some(
      ([{ writableEnded }, { complete }]) => writableEnded && !complete,
    );
  }

  readonly #receive = (bytes: NonSharedBuffer): void => {
    if (this.#message !== undefined) {
      this.#giveBack(bytes);
      return;
    }
    this.#partial?.append(bytes);
    const all = this.#partial?.bytes ?? bytes;
    const message = this.#callbacks.isStopping() ? undefined : messageIn(all);
    if (message === undefined || !this.socket.writable) this.#handOver(all);
    else if (message.size <= all.length) this.#start(message, all);
    else if (this.#partial === undefined) {
      if (parseHead(message.head) === undefined) this.#handOver(all);
      else {
        this.#partial = new GrowingBuffer();
        this.#partial.append(all);
      }
    }
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    if (this.#partial !== undefined) this.#callbacks.malformed(CUT_OFF, this.socket);
    else if (this.#message === undefined) this.socket.end();
  };

  readonly #drain = (): void => {
    this.#response?.emit('drain');
  };

  /** What comes before its turn waits in the socket, so that its end is not seen before it either. */
  #giveBack(bytes: Buffer): void {
    this.socket.pause();
    if (bytes.length > 0) this.socket.unshift(bytes);
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this;
    this.#partial = undefined;
    socket.off('data', this.#receive).off('end', this.#end).off('drain', this.#drain);
    this.#giveBack(bytes);
    const destroySoon = socket.destroySoon.bind(socket);
    // The HTTP server calls it after the last response: its caller may still be sending.
    socket.destroySoon = () => {
      if (!this.isReceiving) destroySoon();
      else {
        socket.end();
        discardInput(socket);
      }
    };
    this.#callbacks.handOver(socket);
    socket.resume();
  }

  #start(message: Message, all: Buffer): void {
    this.#partial = undefined;
    if (message.size < all.length) this.#giveBack(all.subarray(message.size));
    const bytes = message.size < all.length ? all.subarray(0, message.size) : all;
    this.#message = message;
    this.#bytes = bytes;
    this.#observation = this.#observe();
    const isPost = bytes.length > message.head.length || message.head.startsWith('P');
    if (isPost ? this.#startPost(message, bytes) : this.#startGet(message)) return;
    const head = parseHead(message.head);
    if (head === undefined) {
      this.#message = this.#bytes = undefined;
      this.#handOver(bytes);
    } else this.#run(head, (request, response) => this.#dispatch(head, request, response));
  }

  #observe(): Observation | undefined {
    const { finished } = this.#callbacks;
    return finished && new Observation(this.socket, finished);
  }

  #startPost(message: Message, bytes: Buffer): boolean {
    const post = fastPostIn(message, bytes);
    const route = post && this.#callbacks.fastPost(post, this);
    if (route === undefined) return false;
    if (this.#observation !== undefined) this.#observation.route = route;
    return true;
  }

  #startGet({ head }: Message): boolean {
    const repeated = this.#callbacks.repeatedGet(head);
    const found = repeated?.find();
    if (repeated === undefined || found === undefined) return false;
    if (this.#observation !== undefined) this.#observation.route = repeated.route;
    const send = (cached: CachedResponse | undefined): void => {
      if (cached === undefined) this.handOver();
      else this.#write(OK, rawCached(cached));
    };
    if (found instanceof Promise) found.then(send, () => this.handOver());
    else send(found);
    return true;
  }

  send(status: string, headers: string, text: string): void {
    this.#write(Number(status.slice(0, STATUS_LENGTH)), rawResponse(status, headers, text));
  }

  handOver(respond?: Respond): void {
    const head = this.#message && parseHead(this.#message.head);
    if (head === undefined) return;
    if (!this.socket.writable) this.#observation?.finish('POST');
    else this.#run(head, respond ?? ((...given) => this.#dispatch(head, ...given)));
  }

  #write(status: number, response: string | Buffer): void {
    const method = this.#message?.head.startsWith('P') === true ? 'POST' : 'GET';
    if (!this.socket.writable) {
      this.#observation?.finish(method);
      return;
    }
    this.socket.write(response, 'latin1', () => {
      this.#observation?.finish(method, {
        statusCode: status,
        headersSent: true,
        writableFinished: true,
      });
      this.#next();
    });
  }

  #dispatch(head: Head, request: Request, response: ServerResponse): void {
    const route = this.#callbacks.request(request, response);
    if (this.#observation !== undefined) this.#observation.route = route;
    const isRepeatable = head.method === 'GET' && head.isPlain && this.#message !== undefined;
    if (isRepeatable) this.#callbacks.remember(this.#message?.head ?? '', request, route);
  }

  /** Answers by the objects of `node:http`. */
  #run({ method, url, headers, rawHeaders }: Head, respond: Respond): void {
    const request = new IncomingMessage(this.socket);
    Object.assign(request, { method, url, headers, rawHeaders: [...rawHeaders], complete: true });
    Object.assign(request, { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 });
    const body = this.#bytes?.subarray(this.#message?.head.length);
    if (body !== undefined && body.length > 0) request.push(body);
    request.push(null);
    const response = new Response(request);
    this.#response = response;
    response.once('finish', () => this.#finish(response));
    // Otherwise the caller has left.
    response.once('close', () => this.#observation?.finish(method, response));
    response.assignSocket(this.socket);
    respond(request, response);
  }

  /** To be called once the response was written. */
  #finish(response: ServerResponse): void {
    response.detachSocket(this.socket);
    this.#response = undefined;
    response.destroyed = true;
    response.emit('close');
    if (response.shouldKeepAlive) this.#next();
    else {
      this.#message = undefined;
      this.socket.end();
      discardInput(this.socket);
    }
  }

  #next(): void {
    this.#message = this.#bytes = this.#observation = undefined;
    if (this.#hasEnded) this.socket.end();
    else if (this.socket.isPaused()) this.socket.resume();
  }

  /**
   * Leaves nothing but the socket of a response, whose head was sent: it goes on as bytes, and is the last one of
   * the connection. Returns false if that is impossible. Calls back when the socket has closed.
   */
  detach(response: ServerResponse, closed: () => void): boolean {
    if (response !== this.#response || !response.shouldKeepAlive) return false;
    const { socket } = this;
    this.#detached = closed;
    response.detachSocket(socket);
    this.#response = this.#message = this.#bytes = undefined;
    socket.off('data', this.#receive).off('end', this.#end).off('drain', this.#drain);
    socket.on('data', ignore).on('end', destroyThis).resume();
    if (this.#hasEnded) socket.destroy();
    return true;
  }

  /** To be called with each request that `node:http` has read. */
  began(request: Request, response: ServerResponse): void {
    this.#others.set(response, request);
    const observation = this.#observe();
    this.#observation = observation;
    response.once('close', () => {
      this.#others.delete(response);
      observation?.finish(request.method ?? '', response);
    });
    const answer = (): void => {
      const route = this.#callbacks.request(request, response);
      if (observation !== undefined) observation.route = route;
    };
    // It has no socket before the response to the request before it has left.
    if (response.socket === null) response.once('socket', answer);
    else answer();
  }

  /** To be called for bytes that cannot be parsed. Returns what to call once a status was sent for them. */
  malformed(): (status: number) => void {
    // It may answer a request whose body is malformed, which is reported at its end.
    const open = this.#others.size > 0 ? this.#observation : undefined;
    const observation = open ?? this.#observe();
    return (status) =>
      open === undefined ? observation?.finishMalformed(status) : open.wrote(status);
  }

  /** To be called when the socket has closed. */
  close(): void {
    if (this.#detached === undefined) return;
    const { writableFinished } = this.socket;
    this.#observation?.finish('GET', { headersSent: true, statusCode: 200, writableFinished });
    this.#detached();
  }
}

const OK = 200;
/** `201` of `201 Created`. */
const STATUS_LENGTH = 3;

function ignore(): void {}

function destroyThis(this: Socket): void {
  this.destroy();
}
