/**
 * Heads of requests that need not go through `node:http`: what each of their headers does to the response
 * is known.
 */

/** What the head of a simple request says, but the length of its body and its idempotency key. */
export interface SimpleHead {
  /** Without a query, as it was sent. */
  readonly path: string;
  /** Whether the response may be compressed. */
  readonly acceptsEncoding: boolean;
  readonly host: string;
  /** Whether a browser names the page that sent the request. */
  readonly isFromPage: boolean;
  readonly isKeyed: boolean;
}

const LINE_END = '\r\n';
const GET = 'GET ';
const POST = 'POST ';
const VERSION = ' HTTP/1.1\r\n';
/** Without folded lines, tabs, and bytes that are not ASCII. */
const LINES = /^(?:[!-~][ -~]*\r\n)+$/;
/** Neither a form nor lines: what the body is does not depend on it. */
const PLAIN_TYPE = /^(?:application\/json|text\/plain)(?: *; *charset="?utf-8"?)? *$/i;

type HeaderUse = 'host' | 'length' | 'type' | 'connection' | 'encoding' | 'key' | 'page' | 'none';

/**
 * Headers that a simple request may have. Those of use `none` have no effect on the response to a `POST`. For a
 * `GET`, none may say what the caller has already.
 */
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
  Forwarded: 'none',
  'Idempotency-Key': 'key',
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
  Traceparent: 'none',
  Tracestate: 'none',
  'User-Agent': 'none',
  Via: 'none',
  'X-Forwarded-For': 'none',
  'X-Forwarded-Host': 'none',
  'X-Forwarded-Proto': 'none',
  'X-Real-IP': 'none',
  'X-Request-Id': 'none',
};
/** Those by which proxies tell callers and requests apart: each request may have other values. */
const VARYING =
  /\r\n(Forwarded|Traceparent|Tracestate|X-Forwarded-For|X-Real-IP|X-Request-Id): ?[ -~]*(?=\r\n)/gi;
/** By the spellings that clients use. */
const USES: ReadonlyMap<string, HeaderUse> = new Map(
  Object.entries(HEADERS).flatMap(([name, use]) => [
    [name, use],
    [name.toLowerCase(), use],
  ]),
);

/** Equal for heads that differ only in what a proxy says of the caller, which has no effect. */
export function commonHead(head: string): string {
  return head.replaceAll(VARYING, '\r\n$1: 0');
}

/**
 * Whether the head belongs to a `GET` whose response depends only on its bytes and on what is served. Includes
 * the empty line.
 */
export function isSimpleGet(head: string): boolean {
  const headers = simpleHeaders(head.slice(0, -LINE_END.length), GET);
  if (headers?.host === undefined || headers.key !== undefined) return false;
  return headers.length === undefined && headers.type === undefined;
}

/** `head`: the request line and the headers, without the empty line. */
export function simplePostHead(head: string): SimpleHead | undefined {
  const headers = simpleHeaders(head, POST);
  const path = head.slice(POST.length, head.indexOf(VERSION));
  if (headers?.host === undefined || !/^[!-~]+$/.test(path)) return undefined;
  return {
    path,
    acceptsEncoding: headers.encoding !== undefined,
    host: headers.host,
    isFromPage: headers.page !== undefined,
    isKeyed: headers.key !== undefined,
  };
}

type Headers = Partial<Record<HeaderUse, string>>;

function simpleHeaders(head: string, method: string): Headers | undefined {
  const lineEnd = head.indexOf(VERSION);
  if (!head.startsWith(method) || lineEnd === -1 || !LINES.test(head)) return undefined;
  return headersIn(head, lineEnd + VERSION.length);
}

/** The values of headers that matter; undefined if there may be others, or one of them twice. */
function headersIn(head: string, start: number): Headers | undefined {
  const headers: Headers = {};
  for (let at = start; at < head.length;) {
    const colon = head.indexOf(':', at);
    const end = head.indexOf(LINE_END, at);
    const use = USES.get(head.slice(at, colon));
    at = end + LINE_END.length;
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
