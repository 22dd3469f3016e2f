/**
 * A `GET` that has the same bytes as an earlier one is not read again, if its response is in the cache: a caller
 * that polls sends the same request each time.
 *
 * Owns the heads of recent requests, and how the response to each is found. A handler that sends from
 * the cache says so with `allow`. Refuses to know paths and parameters: the same bytes ask for the same,
 * whatever a proxy says of the caller.
 */
import type { IncomingMessage } from 'node:http';

import type { RouteName } from '../request-observer.ts';
import type { CachedResponse } from '../response/response-cache.ts';
import { commonHead } from './head.ts';

/**
 * Finds the response for the present log, or the one that is being created. Undefined, or resolves with
 * undefined, if the route must answer. Must be cheap.
 */
export type FindResponse = () => CachedResponse | Promise<CachedResponse | undefined> | undefined;

export interface RepeatedGet {
  readonly route: RouteName;
  readonly find: FindResponse;
}

/** Longer heads are not remembered, which bounds the memory of them all to 1 MiB. */
const MAX_HEAD_SIZE = 1024;
const MAX_HEADS = 1024;

export class RepeatedGets {
  readonly #byHead = new Map<string, RepeatedGet>();
  readonly #allowed = new WeakMap<IncomingMessage, FindResponse>();

  /** Another request with the same bytes may be answered with what `find` finds. */
  allow(request: IncomingMessage, find: FindResponse): void {
    this.#allowed.set(request, find);
  }

  /** To be called when the handler of a request with a plain head was called. */
  remember(head: string, request: IncomingMessage, route: RouteName): void {
    const find = this.#allowed.get(request);
    if (find === undefined || head.length > MAX_HEAD_SIZE) return;
    if (this.#byHead.size === MAX_HEADS) this.#byHead.clear();
    this.#byHead.set(commonHead(head), { route, find });
  }

  get(head: string): RepeatedGet | undefined {
    if (this.#byHead.size === 0 || head.length > MAX_HEAD_SIZE) return undefined;
    return this.#byHead.get(head) ?? this.#byHead.get(commonHead(head));
  }
}
