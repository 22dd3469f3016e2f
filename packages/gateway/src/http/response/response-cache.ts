/**
 * Responses that stay valid while the log does not grow.
 *
 * Owns small responses, at most `CAPACITY` bytes together; evicts the least recently used first.
 * Upholds that a response is sent only for the head at which it was created, and that concurrent
 * requests for the same response cause one reading.
 */
import type { Headers } from './headers.ts';
import { sendNotModified, type HttpExchange } from './not-modified.ts';

export interface CachedResponse {
  readonly head: number;
  readonly tag: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly notModifiedHeaders: Headers;
}

/** Sends the response, or 304. */
export function sendCached(exchange: HttpExchange, cached: CachedResponse): void {
  if (sendNotModified(exchange, cached.tag, cached.notModifiedHeaders)) return;
  exchange.response.writeHead(200, cached.headers);
  exchange.response.end(cached.body);
}

/** In bytes. */
const CAPACITY = 16 * 1024 * 1024;
/** Estimated bytes of a cached response beside its body and key: headers, map entries. */
const OVERHEAD = 1024;

interface PendingResponse {
  readonly head: number;
  readonly response: Promise<CachedResponse | undefined>;
}

export class ResponseCache {
  readonly #responses = new Map<string, CachedResponse>();
  readonly #pending = new Map<string, PendingResponse>();
  #size = 0;

  get(key: string, head: number): CachedResponse | undefined {
    const cached = this.#responses.get(key);
    if (cached === undefined || cached.head !== head) return undefined;
    // Moves it behind all others, which are evicted earlier.
    this.#responses.delete(key);
    this.#responses.set(key, cached);
    return cached;
  }

  /**
   * Creates and stores the response for this head, once for all concurrent requests. Undefined if
   * `factory` finds it too large for the cache.
   */
  async create(
    key: string,
    head: number,
    factory: () => Promise<CachedResponse | undefined>,
  ): Promise<CachedResponse | undefined> {
    const started = this.#pending.get(key);
    if (started?.head === head) return await started.response;
    const pending = { head, response: factory() };
    this.#pending.set(key, pending);
    try {
      const created = await pending.response;
      if (created !== undefined) this.#store(key, created);
      return created;
    } finally {
      if (this.#pending.get(key) === pending) this.#pending.delete(key);
    }
  }

  #store(key: string, response: CachedResponse): void {
    const size = sizeOf(key, response);
    if (size > CAPACITY) return;
    this.#delete(key);
    for (const leastRecent of this.#responses.keys()) {
      if (this.#size + size <= CAPACITY) break;
      this.#delete(leastRecent);
    }
    this.#responses.set(key, response);
    this.#size += size;
  }

  #delete(key: string): void {
    const cached = this.#responses.get(key);
    if (cached === undefined) return;
    this.#responses.delete(key);
    this.#size -= sizeOf(key, cached);
  }
}

function sizeOf(key: string, { body }: CachedResponse): number {
  return body.length + 4 * key.length + OVERHEAD;
}
