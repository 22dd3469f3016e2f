/**
 * Responses that stay valid while the log does not grow.
 *
 * Owns small responses, at most `CAPACITY` bytes together; evicts the least recently used first.
 * Upholds that a response is sent only for the head at which it was created, that concurrent
 * requests for the same response cause one reading, and that nothing is kept of what was created
 * before something was taken away.
 */
import { LRUCache } from 'lru-cache';

import { callerEnded, onCallerEnded } from '../../ended-callers.ts';
import type { Encoding } from '../negotiation.ts';
import { compress, MIN_COMPRESSED_SIZE } from './compression.ts';
import { contentEncoding, type Headers } from './headers.ts';
import { sendNotModified, type HttpExchange } from './not-modified.ts';

export interface CachedResponse {
  readonly head: number;
  readonly tag: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly notModifiedHeaders: Headers;
}

interface PlainResponse extends Pick<CachedResponse, 'head' | 'tag'> {
  readonly type: string;
  readonly plain: Buffer;
  /** What the caller prefers: small bodies are not compressed. */
  readonly encoding: Encoding | undefined;
  /** Those of 304 too. */
  readonly headers: Headers;
  /** Those of 200 alone. */
  readonly links?: Headers;
}

export async function cachedResponseOf(response: PlainResponse): Promise<CachedResponse> {
  const { head, tag, type, plain, links, headers: notModifiedHeaders } = response;
  const encoding = plain.length < MIN_COMPRESSED_SIZE ? undefined : response.encoding;
  const body = encoding === undefined ? plain : await compress(encoding, plain);
  const headers = {
    'Content-Type': type,
    'Content-Length': String(body.length),
    ...contentEncoding(encoding),
    ...links,
    ...notModifiedHeaders,
  };
  return { head, tag, headers, body, notModifiedHeaders };
}

/** Sends the response, or 304. */
export function sendCached(exchange: HttpExchange, cached: CachedResponse): void {
  if (sendNotModified(exchange, cached.tag, cached.notModifiedHeaders)) return;
  exchange.response.writeHead(200, cached.headers);
  exchange.response.end(cached.body);
}

/** In bytes. */
const CAPACITY = 16 * 1024 * 1024;
/** Estimated bytes of a cached response: its body in both forms, its key, and this much more. */
const OVERHEAD = 1024;

interface PendingResponse {
  readonly head: number;
  readonly response: Promise<CachedResponse | undefined>;
  /** Aborted once nobody waits for the response any more. */
  readonly ending: AbortController;
  waiting: number;
  /** How many of those have not ended their half of the connection. Once none has, nobody else waits for it. */
  present: number;
}

export class ResponseCache {
  readonly #responses = new LRUCache<string, CachedResponse>({
    maxSize: CAPACITY,
    sizeCalculation: ({ body }, key) => 2 * body.length + 4 * key.length + OVERHEAD,
  });
  readonly #pending = new Map<string, PendingResponse>();
  #removals: () => number = () => 0;
  #seenRemovals = 0;

  /** `removals`: changes when what was stored earlier was taken away. Must be cheap. */
  dropOn(removals: () => number): void {
    this.#removals = removals;
  }

  get(key: string, head: number): CachedResponse | undefined {
    this.#dropRemoved();
    const cached = this.#responses.get(key);
    return cached?.head === head ? cached : undefined;
  }

  /** The response for this head, or the one that is being created, which resolves as `create` does. */
  find(
    key: string,
    head: number,
  ): CachedResponse | Promise<CachedResponse | undefined> | undefined {
    const cached = this.get(key, head);
    if (cached !== undefined) return cached;
    const pending = this.#pending.get(key);
    return pending?.head === head ? pending.response : undefined;
  }

  /**
   * Creates and stores the response for this head, once for all concurrent requests. Undefined if
   * `factory` finds it too large for the cache. `signal` says that a request has ended; without one,
   * it is waited for to the end. The signal of `factory` is aborted once all requests have ended.
   */
  async create(
    key: string,
    head: number,
    signal: AbortSignal | undefined,
    factory: (ending: AbortSignal | undefined) => Promise<CachedResponse | undefined>,
  ): Promise<CachedResponse | undefined> {
    this.#dropRemoved();
    let pending = this.#pending.get(key);
    if (pending?.head !== head || pending.ending.signal.aborted || pending.present === 0) {
      const ending = new AbortController();
      const response = factory(signal && ending.signal);
      pending = { head, response, ending, waiting: 0, present: signal === undefined ? 1 : 0 };
      this.#pending.set(key, pending);
      void this.#storeWhenCreated(key, pending);
    }
    if (signal === undefined) return await pending.response;
    return await untilAborted(pending, signal);
  }

  async #storeWhenCreated(key: string, pending: PendingResponse): Promise<void> {
    try {
      const created = await pending.response;
      this.#dropRemoved();
      if (created !== undefined && this.#pending.get(key) === pending)
        this.#responses.set(key, created);
    } catch {
      // Whoever waits for the response is told.
    } finally {
      if (this.#pending.get(key) === pending) this.#pending.delete(key);
    }
  }

  #dropRemoved(): void {
    const removals = this.#removals();
    if (removals === this.#seenRemovals) return;
    this.#seenRemovals = removals;
    this.#responses.clear();
    this.#pending.clear();
  }
}

/**
 * Throws the signal's reason once it is aborted. If the response was too large, the signal still counts, because
 * the request goes on with what was read.
 */
async function untilAborted(
  pending: PendingResponse,
  signal: AbortSignal,
): Promise<CachedResponse | undefined> {
  const { promise, reject } = Promise.withResolvers<never>();
  let isPresent = true;
  const leave = (): void => {
    if (!isPresent) return;
    isPresent = false;
    pending.present -= 1;
    if (pending.present === 0) callerEnded(pending.ending.signal);
  };
  const abort = (): void => {
    leave();
    pending.waiting -= 1;
    if (pending.waiting === 0) pending.ending.abort(signal.reason);
    reject(signal.reason);
  };
  pending.waiting += 1;
  pending.present += 1;
  const leaving = onCallerEnded(signal, leave);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const created = await Promise.race([pending.response, promise]);
  if (created === undefined) return undefined;
  signal.removeEventListener('abort', abort);
  leaving[Symbol.dispose]();
  pending.waiting -= 1;
  return created;
}
