/**
 * A `GET` that has the same bytes as an earlier one need not go through `node:http` again, if its
 * response is in the cache: a caller that polls sends the same request each time.
 *
 * Owns the heads of recent requests, and how the response to each is found. A handler that sends from
 * the cache says so with `allow`. Refuses to know paths and parameters: the same bytes ask for the same,
 * whatever a proxy says of the caller.
 */
import type { IncomingMessage } from 'node:http';

import type { RouteName } from '../request-observer.ts';
import type { CachedResponse } from '../response/response-cache.ts';
import { commonHead, isSimpleGet } from './simple-head.ts';

/**
 * Finds the response for the present log, or the one that is being created. Undefined, or resolves with
 * undefined, if the request must go through `node:http`. Must be cheap.
 */
export type FindResponse = () => CachedResponse | Promise<CachedResponse | undefined> | undefined;

export interface RepeatedGet {
  readonly route: RouteName;
  readonly find: FindResponse;
}

/** Longer heads are not remembered, which bounds the memory of them all to 1 MiB. */
const MAX_HEAD_SIZE = 1024;
const MAX_HEADS = 1024;
const G = 0x47;
const HEAD_END = '\r\n\r\n';

export class RepeatedGets {
  readonly #byHead = new Map<string, RepeatedGet>();
  readonly #allowed = new WeakMap<IncomingMessage, FindResponse>();

  /** Another request with the same bytes may be answered with what `find` finds. */
  allow(request: IncomingMessage, find: FindResponse): void {
    this.#allowed.set(request, find);
  }

  /** To be called when the handler of a request was called: `bytes` are all that it consists of. */
  remember(bytes: Buffer, request: IncomingMessage, route: RouteName): void {
    const find = this.#allowed.get(request);
    if (find === undefined || bytes.length > MAX_HEAD_SIZE) return;
    const head = commonHead(bytes.toString('latin1'));
    if (this.#byHead.has(head) || !isSimpleGet(head)) return;
    if (this.#byHead.size === MAX_HEADS) this.#byHead.clear();
    this.#byHead.set(head, { route, find });
  }

  /** Undefined unless the bytes are one such request, from first to last. */
  get(bytes: Buffer): RepeatedGet | undefined {
    if (!isGet(bytes) || this.#byHead.size === 0) return undefined;
    const head = bytes.toString('latin1');
    return this.#byHead.get(head) ?? this.#byHead.get(commonHead(head));
  }
}

/** Whether they may be a whole `GET` that is remembered. */
function isGet(bytes: Buffer): boolean {
  return bytes[0] === G && bytes.length <= MAX_HEAD_SIZE;
}

/** Whether the bytes are one head, and nothing else. */
export function isOneHead(bytes: Buffer): boolean {
  return isGet(bytes) && bytes.indexOf(HEAD_END) === bytes.length - HEAD_END.length;
}
