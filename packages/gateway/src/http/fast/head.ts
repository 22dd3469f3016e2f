/**
 * Heads of requests that the lane reads by itself: a `GET` without a body, or a `POST` with a length, each of
 * whose headers is there once, in ASCII. What is not certain is left to `node:http`.
 */

/** The first request among the bytes of a connection. */
export interface Message {
  /** The head with its empty line, in Latin-1. */
  readonly head: string;
  /** In bytes, with the body. */
  readonly size: number;
}

export interface Head {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values as they were sent, one after another. */
  readonly rawHeaders: readonly string[];
  /** Whether no header has an effect on a fast answer, beyond those that it looks at. */
  readonly isPlain: boolean;
}

/** Longer ones are left to `node:http`. */
const MAX_HEAD_SIZE = 16 * 1024;
const MAX_BODY_SIZE = 64 * 1024;
const [G, P] = [0x47, 0x50];
const HEAD_END = '\r\n\r\n';
const LENGTH_LINE = /\r\nContent-Length: ?([0-9]{1,9})\r\n/i;
const REQUEST_LINE = /^(GET|POST) ([!-~]+) HTTP\/1\.1$/;
/** Without folded lines, and bytes that are not ASCII. */
const HEADER_LINE = /^([!#$%&'*+.^_`|~\w-]+):([ -~\t]*)$/;
const KEEP_ALIVE = /^keep-alive$/i;

/** They change how a message, or the connection, goes on. */
const FRAMING: ReadonlySet<string> = new Set([
  'expect',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Fast answers look at these, or they have no effect. For a `GET`, none may say what the caller has already. */
const PLAIN: ReadonlySet<string> = new Set(
  `host content-length content-type connection accept-encoding idempotency-key origin sec-fetch-site
  accept accept-language cache-control dnt forwarded pragma priority referer sec-ch-ua sec-ch-ua-mobile
  sec-ch-ua-platform sec-fetch-dest sec-fetch-mode traceparent tracestate user-agent via x-forwarded-for
  x-forwarded-host x-forwarded-proto x-real-ip x-request-id`.split(/\s+/),
);
/** Those by which proxies tell callers and requests apart: each request may have other values. */
const VARYING =
  /\r\n(Forwarded|Traceparent|Tracestate|X-Forwarded-For|X-Real-IP|X-Request-Id): ?[ -~]*(?=\r\n)/gi;

/** Undefined if the bytes begin with no whole head of these. The body may still have to come. */
export function messageIn(bytes: Buffer): Message | undefined {
  if (bytes[0] !== G && bytes[0] !== P) return undefined;
  const headSize = bytes.indexOf(HEAD_END) + HEAD_END.length;
  if (headSize < HEAD_END.length || headSize > MAX_HEAD_SIZE) return undefined;
  const head = bytes.toString('latin1', 0, headSize);
  if (bytes[0] === G) return { head, size: headSize };
  const [, length] = LENGTH_LINE.exec(head) ?? [];
  if (length === undefined || Number(length) > MAX_BODY_SIZE) return undefined;
  return { head, size: headSize + Number(length) };
}

/** Equal for heads that differ only in what a proxy says of the caller, which has no effect. */
export function commonHead(head: string): string {
  return head.replaceAll(VARYING, '\r\n$1: 0');
}

export function parseHead(text: string): Head | undefined {
  const [first = '', ...lines] = text.slice(0, -HEAD_END.length).split('\r\n');
  const [, method, url] = REQUEST_LINE.exec(first) ?? [];
  if ((method !== 'GET' && method !== 'POST') || url === undefined) return undefined;
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  let isPlain = true;
  for (const line of lines) {
    const [, name, value] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    const key = name.toLowerCase();
    if (FRAMING.has(key) || Object.hasOwn(headers, key)) return undefined;
    headers[key] = value.trim();
    rawHeaders.push(name, headers[key]);
    isPlain &&= PLAIN.has(key);
  }
  const { host, connection = 'keep-alive', 'content-length': length } = headers;
  if (host === undefined || !KEEP_ALIVE.test(connection)) return undefined;
  if ((length === undefined) !== (method === 'GET')) return undefined;
  return { method, url, headers, rawHeaders, isPlain };
}
