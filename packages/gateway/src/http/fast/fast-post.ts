/** A small `POST` that a route can answer without the objects of `node:http`. */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { commonHead, type Head, type Message, parseHead } from './head.ts';

export interface FastPost {
  /** Without a query, as it was sent. */
  readonly path: string;
  /** Whether the response may be compressed. */
  readonly acceptsEncoding: boolean;
  readonly host: string;
  /** Whether a browser names the page that sent the request. */
  readonly isFromPage: boolean;
  /** Neither encoded nor a form by its type. A view of what was received. */
  readonly body: Buffer;
  /** The value of `Idempotency-Key`. */
  readonly key: string | undefined;
}

/** To be called once, now or later. */
export interface FastPostResponder {
  /** Sends a response. `headers` are lines; `text` is in Latin-1, one byte a character. */
  send(status: string, headers: string, text: string): void;
  /** Answers by the objects of `node:http` after all: by the callback, or by the route. */
  handOver(respond?: (request: IncomingMessage, response: ServerResponse) => void): void;
}

/** Returns false if the request must be answered by the route; nothing has been done then. */
export type FastPostHandler<App> = (
  app: App,
  post: FastPost,
  responder: FastPostResponder,
) => boolean;

/** Neither a form nor lines: what the body is does not depend on it. */
const PLAIN_TYPE = /^(?:application\/json|text\/plain)(?: *; *charset="?utf-8"?)? *$/i;
const LENGTH_LINE = /(\r\nContent-Length: ?)[0-9]+(?=\r\n)/i;
/** A key as most clients make them. */
const KEY_LINE = /(\r\nIdempotency-Key: )([!-~]+)(?=\r\n)/i;

/** Recent heads, with lengths and keys replaced by 0: a client sends the same head with each entry. */
const recentHeads = new Map<string, Head | undefined>();
const MAX_RECENT_HEADS = 256;
/** Longer heads are read anew each time, which bounds the memory of the cache. */
const MAX_RECENT_HEAD_SIZE = 1024;

/** `bytes`: of the whole message. */
export function fastPostIn({ head: text, size }: Message, bytes: Buffer): FastPost | undefined {
  const key = KEY_LINE.exec(text)?.[2];
  const general = commonHead(text).replace(LENGTH_LINE, '$10');
  const head = recentHead(key === undefined ? general : general.replace(KEY_LINE, '$10'));
  if (head?.isPlain !== true || head.method !== 'POST') return undefined;
  const { host = '', 'content-type': type = 'text/plain', ...others } = head.headers;
  // A key that is spelled in another way has to be read.
  const isKeyed = others['idempotency-key'] !== undefined;
  if (!PLAIN_TYPE.test(type) || isKeyed !== (key !== undefined)) return undefined;
  return {
    path: head.url,
    acceptsEncoding: others['accept-encoding'] !== undefined,
    host,
    isFromPage: others['origin'] !== undefined || others['sec-fetch-site'] !== undefined,
    body: bytes.subarray(text.length, size),
    key,
  };
}

function recentHead(text: string): Head | undefined {
  const recent = recentHeads.get(text);
  if (recent !== undefined || recentHeads.has(text)) return recent;
  const head = parseHead(text);
  if (text.length > MAX_RECENT_HEAD_SIZE) return head;
  if (recentHeads.size === MAX_RECENT_HEADS) recentHeads.clear();
  recentHeads.set(text, head);
  return head;
}
