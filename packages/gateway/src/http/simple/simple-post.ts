/**
 * Requests that need not go through `node:http`: a whole `POST` in one packet whose headers have no
 * effect on the response. Everything else, and what is not certain, is left to `node:http`.
 *
 * Invariant: A request that bypasses `node:http` is answered as it would be through it.
 * Test: `test/fuzz/simple-requests.test.ts` “what bypasses node:http is answered and stored as
 *   through it” “a GET that is sent again is answered as through node:http”
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { commonHead, simplePostHead, type SimpleHead } from './simple-head.ts';

export interface SimplePost extends Omit<SimpleHead, 'isKeyed'> {
  /** Neither encoded nor a form by its type. A view of what was received. */
  readonly body: Buffer;
  /** The value of `Idempotency-Key`. */
  readonly key: string | undefined;
}

/** To be called once, now or later. */
export interface SimplePostResponder {
  /** Sends a response. `headers` are lines; `text` is in Latin-1, one byte a character. */
  send(status: string, headers: string, text: string): void;
  /** Gives the request to `node:http` after all, and its response to the callback, or to its route. */
  handOver(respond?: (request: IncomingMessage, response: ServerResponse) => void): void;
}

/** Returns false if the request must go through `node:http`; nothing has been done then. */
export type SimplePostHandler<App> = (
  app: App,
  post: SimplePost,
  responder: SimplePostResponder,
) => boolean;

/** Longer heads are left to `node:http`. */
const MAX_HEAD_SIZE = 4096;
const P = 0x50;
const LENGTH_LINE = /\r\nContent-Length: ([0-9]{1,9})\r\n/i;
/** Where the digits of its match are. */
const LENGTH_DIGITS = '\r\nContent-Length: '.length;
/** A key as most clients make them; others are left to `node:http`. */
const KEY_LINE = /\r\nIdempotency-Key: ([!-~]+)\r\n/i;
const KEY_VALUE = '\r\nIdempotency-Key: '.length;
/** Results for recent heads, with lengths and keys replaced by 0: a client sends the same head with each entry. */
const recentHeads = new Map<string, SimpleHead | undefined>();
const MAX_RECENT_HEADS = 256;
/** Longer heads are read anew each time, which bounds the memory of the cache. */
const MAX_RECENT_HEAD_SIZE = 1024;

/** Undefined if the bytes are anything but one such request, from its first byte to its last. */
export function simplePostIn(bytes: Buffer): SimplePost | undefined {
  if (bytes[0] !== P) return undefined;
  const headSize = bytes.indexOf('\r\n\r\n') + 4;
  if (headSize < 4 || headSize > MAX_HEAD_SIZE) return undefined;
  const text = commonHead(bytes.toString('latin1', 0, headSize - 2));
  const found = LENGTH_LINE.exec(text);
  const length = found?.[1] ?? '';
  if (found === null || Number(length) !== bytes.length - headSize) return undefined;
  const general = withZero(text, found.index + LENGTH_DIGITS, length);
  const keyed = KEY_LINE.exec(general);
  const key = keyed?.[1];
  const head = recentHead(
    keyed === null || key === undefined ? general : withZero(general, keyed.index + KEY_VALUE, key),
  );
  // A key that is spelled in another way is left to `node:http`.
  if (head === undefined || head.isKeyed !== (key !== undefined)) return undefined;
  const { path, acceptsEncoding, host, isFromPage } = head;
  return { path, body: bytes.subarray(headSize), acceptsEncoding, host, isFromPage, key };
}

function withZero(text: string, at: number, value: string): string {
  return `${text.slice(0, at)}0${text.slice(at + value.length)}`;
}

function recentHead(text: string): SimpleHead | undefined {
  const recent = recentHeads.get(text);
  if (recent !== undefined || recentHeads.has(text)) return recent;
  const head = simplePostHead(text);
  if (text.length > MAX_RECENT_HEAD_SIZE) return head;
  if (recentHeads.size === MAX_RECENT_HEADS) recentHeads.clear();
  recentHeads.set(text, head);
  return head;
}
