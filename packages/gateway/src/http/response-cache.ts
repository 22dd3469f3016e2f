/**
 * Answers that are ready to be sent again while the log stays as it is.
 *
 * Owns small answers as bytes, at most `CAPACITY` of them together, the least lately used leaving
 * first. Upholds that an answer is given only for the head that it was made at, and that callers
 * who want the same at once cause one reading.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { matchesEtag } from './negotiation.ts';
import type { Headers } from './headers.ts';

/** A request and its answer to be. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface CachedResponse {
  readonly head: number;
  readonly tag: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The headers of a 304 for it. */
  readonly notModifiedHeaders: Headers;
}

/** Sends the answer; 304 if the caller has it. */
export function sendCached({ request, response }: Exchange, ready: CachedResponse): void {
  if (matchesEtag(request.headers['if-none-match'], ready.tag)) {
    response.writeHead(304, ready.notModifiedHeaders);
    response.end();
    return;
  }
  response.writeHead(200, ready.headers);
  response.end(ready.body);
}

const CAPACITY = 16 * 1024 * 1024;
/** What an answer takes beside its body and its key: headers, places in maps. */
const BESIDE = 1024;

interface Making<Result> {
  readonly head: number;
  readonly result: Promise<Result>;
}

export class ResponseCache {
  readonly #answers = new Map<string, CachedResponse>();
  readonly #making = new Map<string, Making<CachedResponse | undefined>>();
  #size = 0;

  get(key: string, head: number): CachedResponse | undefined {
    const ready = this.#answers.get(key);
    if (ready === undefined || ready.head !== head) return undefined;
    this.#answers.delete(key);
    this.#answers.set(key, ready);
    return ready;
  }

  /**
   * The answer that `make` makes for this head, made once for all who ask meanwhile. Undefined
   * where it turns out too large to be kept ready.
   */
  async create(
    key: string,
    head: number,
    make: () => Promise<CachedResponse | undefined>,
  ): Promise<CachedResponse | undefined> {
    const begun = this.#making.get(key);
    if (begun?.head === head) return await begun.result;
    const making = { head, result: make() };
    this.#making.set(key, making);
    try {
      const ready = await making.result;
      if (ready !== undefined) this.#keep(key, ready);
      return ready;
    } finally {
      if (this.#making.get(key) === making) this.#making.delete(key);
    }
  }

  #keep(key: string, ready: CachedResponse): void {
    const size = sizeOf(key, ready);
    if (size > CAPACITY) return;
    this.#drop(key);
    for (const oldest of this.#answers.keys()) {
      if (this.#size + size <= CAPACITY) break;
      this.#drop(oldest);
    }
    this.#answers.set(key, ready);
    this.#size += size;
  }

  #drop(key: string): void {
    const ready = this.#answers.get(key);
    if (ready === undefined) return;
    this.#answers.delete(key);
    this.#size -= sizeOf(key, ready);
  }
}

function sizeOf(key: string, { body }: CachedResponse): number {
  return body.length + 4 * key.length + BESIDE;
}
