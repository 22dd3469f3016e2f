/**
 * Requests that need not go through `node:http`: a whole `POST` in one packet whose headers have no
 * effect on the response. Everything else, and what is not certain, is left to `node:http`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface SimplePost {
  /** Without a query, as it was sent. */
  readonly path: string;
  /** Neither encoded nor a form by its type. A view of what was received. */
  readonly body: Buffer;
  /** Whether the response may be compressed. */
  readonly acceptsEncoding: boolean;
  readonly host: string;
  /** Whether a browser says of which page it is. */
  readonly isFromPage: boolean;
}

/** To be called once, now or later. */
export interface SimplePostResponder {
  /** Sends a response. `headers` are lines; `text` is in Latin-1, one byte a character. */
  send(status: string, headers: string, text: string): void;
  /** Gives the request to `node:http` after all, and its response to the callback. */
  handOver(respond: (request: IncomingMessage, response: ServerResponse) => void): void;
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
const METHOD = 'POST ';
const VERSION = ' HTTP/1.1\r\n';
/** Without folded lines, tabs, and bytes that are not ASCII. */
const LINES = /^(?:[!-~][ -~]*\r\n)+$/;
/** Neither a form nor lines: what the body is does not depend on it. */
const PLAIN_TYPE = /^(?:application\/json|text\/plain)(?: *; *charset="?utf-8"?)? *$/i;

type HeaderUse = 'host' | 'length' | 'type' | 'connection' | 'encoding' | 'page' | 'none';

/** Headers that may be there. Those of use `none` have no effect on the response to a `POST`. */
const HEADERS: Readonly<Record<string, HeaderUse>> = {
  Host: 'host',
  'Content-Length': 'length',
  'Content-Type': 'type',
  Connection: 'connection',
  'Accept-Encoding': 'encoding',
  Accept: 'none',
  'Accept-Language': 'none',
  'Cache-Control': 'none',
  DNT: 'none',
  Origin: 'page',
  Pragma: 'none',
  Priority: 'none',
  Referer: 'none',
  'Sec-Ch-Ua': 'none',
  'Sec-Ch-Ua-Mobile': 'none',
  'Sec-Ch-Ua-Platform': 'none',
  'Sec-Fetch-Dest': 'none',
  'Sec-Fetch-Mode': 'none',
  'Sec-Fetch-Site': 'page',
  'User-Agent': 'none',
  'X-Forwarded-For': 'none',
  'X-Forwarded-Host': 'none',
  'X-Forwarded-Proto': 'none',
  'X-Real-IP': 'none',
};
/** By the spellings that clients use. */
const USES: ReadonlyMap<string, HeaderUse> = new Map(
  Object.entries(HEADERS).flatMap(([name, use]) => [
    [name, use],
    [name.toLowerCase(), use],
  ]),
);

/** What the head of a simple `POST` says, but the length of its body. */
type SimpleHead = Omit<SimplePost, 'body'>;

const LENGTH_LINE = /\r\nContent-Length: ([0-9]{1,9})\r\n/i;
/** Where the digits of its match are. */
const LENGTH_DIGITS = '\r\nContent-Length: '.length;
/**
 * The results for recent heads, whose lengths are replaced by 0: a client sends the same one with each
 * entry.
 */
const recentHeads = new Map<string, SimpleHead | undefined>();
const MAX_RECENT_HEADS = 256;
/** Longer heads are read anew each time, which bounds the memory of the cache. */
const MAX_RECENT_HEAD_SIZE = 1024;

/** Undefined if the bytes are anything but one such request, from its first byte to its last. */
export function simplePostIn(bytes: Buffer): SimplePost | undefined {
  if (bytes[0] !== P) return undefined;
  const headSize = bytes.indexOf('\r\n\r\n') + 4;
  if (headSize < 4 || headSize > MAX_HEAD_SIZE) return undefined;
  const text = bytes.toString('latin1', 0, headSize - 2);
  const found = LENGTH_LINE.exec(text);
  const length = found?.[1] ?? '';
  if (found === null || Number(length) !== bytes.length - headSize) return undefined;
  const at = found.index + LENGTH_DIGITS;
  const head = recentHead(`${text.slice(0, at)}0${text.slice(at + length.length)}`);
  if (head === undefined) return undefined;
  const { path, acceptsEncoding, host, isFromPage } = head;
  return { path, body: bytes.subarray(headSize), acceptsEncoding, host, isFromPage };
}

function recentHead(text: string): SimpleHead | undefined {
  const recent = recentHeads.get(text);
  if (recent !== undefined || recentHeads.has(text)) return recent;
  const head = simpleHeadIn(text);
  if (text.length > MAX_RECENT_HEAD_SIZE) return head;
  if (recentHeads.size === MAX_RECENT_HEADS) recentHeads.clear();
  recentHeads.set(text, head);
  return head;
}

/** `head`: the request line and the headers, without the empty line. */
function simpleHeadIn(head: string): SimpleHead | undefined {
  const lineEnd = head.indexOf(VERSION);
  if (!head.startsWith(METHOD) || lineEnd === -1 || !LINES.test(head)) return undefined;
  const path = head.slice(METHOD.length, lineEnd);
  const headers = headersIn(head, lineEnd + VERSION.length);
  if (headers?.host === undefined || !/^[!-~]+$/.test(path)) return undefined;
  return {
    path,
    acceptsEncoding: headers.encoding !== undefined,
    host: headers.host,
    isFromPage: headers.page !== undefined,
  };
}

/** The values of headers that matter; undefined if there may be others, or one of them twice. */
function headersIn(head: string, start: number): Partial<Record<HeaderUse, string>> | undefined {
  const headers: Partial<Record<HeaderUse, string>> = {};
  for (let at = start; at < head.length;) {
    const colon = head.indexOf(':', at);
    const end = head.indexOf('\r\n', at);
    const use = USES.get(head.slice(at, colon));
    at = end + 2;
    if (use === undefined) return undefined;
    if (use === 'none') continue;
    const from = head.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1;
    const value = head.slice(from, end);
    if ((headers[use] !== undefined && use !== 'page') || VALUES[use]?.test(value) === false)
      return undefined;
    headers[use] = value;
  }
  return headers;
}

const SPACE = 0x20;
const VALUES: Partial<Record<HeaderUse, RegExp>> = {
  type: PLAIN_TYPE,
  connection: /^keep-alive$/i,
};

/** The `Date` of a response, the same within a second. */
let date = '';
let dateSecond = 0;

/** A response after which the connection stays open, with the headers of `node:http`. */
export function rawResponse(status: string, headers: string, text: string): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(second * 1000).toUTCString();
  }
  return `HTTP/1.1 ${status}\r\n${headers}Date: ${date}\r\nConnection: keep-alive\r\n\r\n${text}`;
}
