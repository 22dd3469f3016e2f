/**
 * The exchange of a simple request that bypasses `node:http`: a simple `POST` (`simple-post.ts`), or a `GET`
 * that was answered before (`repeated-get.ts`).
 */
import type { Socket } from 'node:net';

import { rawCached, rawResponse } from './raw-response.ts';
import type { RepeatedGet } from './repeated-get.ts';
import type { ConnectionObserver, RouteName } from '../request-observer.ts';
import type { CachedResponse } from '../response/response-cache.ts';
import { simplePostIn, type SimplePost, type SimplePostResponder } from './simple-post.ts';

/** `201` of `201 Created`. */
const STATUS_LENGTH = 3;
const OK = '200 OK';
type Respond = Parameters<SimplePostResponder['handOver']>[0];

export interface SimpleCallbacks {
  /** Returns undefined for a request that must go through `node:http`. */
  simplePost(post: SimplePost, responder: SimplePostResponder): RouteName | undefined;
  /** Returns undefined for bytes that must go through `node:http`. */
  repeatedGet(bytes: Buffer): RepeatedGet | undefined;
}

/** What the connection does next. */
interface Continuation {
  /** Gives a request that is not answered here to the parser. */
  parse(bytes: NonSharedBuffer): void;
  readonly finish: () => void;
}

export class SimpleExchange implements SimplePostResponder {
  readonly #socket: Socket;
  readonly #callbacks: SimpleCallbacks;
  readonly #observer: ConnectionObserver | undefined;
  readonly #next: Continuation;
  /** Of the last request that was not left to the parser. */
  method = '';
  /** Undefined where no request is being answered. */
  #bytes: NonSharedBuffer | undefined;
  #respond: Respond;

  constructor(
    socket: Socket,
    callbacks: SimpleCallbacks,
    observer: ConnectionObserver | undefined,
    next: Continuation,
  ) {
    this.#socket = socket;
    this.#callbacks = callbacks;
    this.#observer = observer;
    this.#next = next;
  }

  get isOpen(): boolean {
    return this.#bytes !== undefined;
  }

  /** Returns false if the bytes must be parsed. */
  start(bytes: NonSharedBuffer): boolean {
    if (!this.#socket.writable) return false;
    const post = simplePostIn(bytes);
    if (post !== undefined) return this.#startPost(bytes, post);
    const get = this.#callbacks.repeatedGet(bytes);
    return get !== undefined && this.#startGet(bytes, get);
  }

  end(): void {
    this.#bytes = undefined;
  }

  /** What responds to a request that was handed over, once. */
  takeRespond(): Respond {
    const respond = this.#respond;
    this.#respond = undefined;
    return respond;
  }

  send(status: string, headers: string, text: string): void {
    this.#send(status, rawResponse(status, headers, text));
  }

  handOver(respond?: Respond): void {
    const bytes = this.#bytes;
    this.#bytes = undefined;
    if (bytes === undefined) return;
    if (!this.#socket.writable) {
      this.#observer?.finish(this.method, undefined);
      return;
    }
    this.#respond = respond;
    this.#next.parse(bytes);
  }

  #startPost(bytes: NonSharedBuffer, post: SimplePost): boolean {
    this.#open('POST', bytes);
    const route = this.#callbacks.simplePost(post, this);
    if (route === undefined) {
      this.#bytes = undefined;
      return false;
    }
    this.#observer?.answeredBy(route);
    return true;
  }

  #startGet(bytes: NonSharedBuffer, { route, find }: RepeatedGet): boolean {
    const found = find();
    if (found === undefined) return false;
    this.#open('GET', bytes);
    this.#observer?.answeredBy(route);
    const send = (cached: CachedResponse | undefined): void => {
      if (cached === undefined) this.handOver();
      else this.#send(OK, rawCached(cached));
    };
    if (found instanceof Promise) found.then(send, () => this.handOver());
    else send(found);
    return true;
  }

  #open(method: 'GET' | 'POST', bytes: NonSharedBuffer): void {
    this.method = method;
    this.#bytes = bytes;
    this.#observer?.start();
  }

  #send(status: string, response: string | Buffer): void {
    if (!this.#socket.writable) {
      this.#next.finish();
      return;
    }
    this.#observer?.wrote(Number(status.slice(0, STATUS_LENGTH)));
    this.#socket.write(response, 'latin1', this.#next.finish);
  }
}
