/** Requests that may bypass `node:http`, those that differ from them, and streams of both. */
import fc from 'fast-check';

/** The log of the compared gateways refuses an entry with this text, and fails at the other. */
export const REFUSE = 'refuse this';
export const FAIL = 'fail at this';

const entry = (text: string): string =>
  JSON.stringify({ text, identity: 'Lumen', identityType: 'ai_entity' });

interface Head {
  readonly path: string;
  readonly version: string;
  readonly host: readonly string[];
  readonly others: readonly string[];
}

interface Post extends Head {
  readonly lengthOf: (size: number) => string;
  readonly text: string;
}
const SIMPLE: Post = {
  path: '/api/garden',
  version: ' HTTP/1.1',
  host: ['Host: localhost'],
  others: [],
  lengthOf: (size) => `Content-Length: ${size}`,
  text: entry('here'),
};

const BODIES = [
  entry('x'.repeat(1200)),
  entry('x'.repeat(40_000)),
  entry(REFUSE),
  entry(FAIL),
  ` ${entry('spaces around')}\r\n`,
  '\ufeff{"text":"bom","identity":"b","identityType":"human"}',
  '{"text":"reply","identity":"b","identityType":"human","inReplyTo":"nothing"}',
  '{"text":"own","identity":"b","identityType":"human","seq":7}',
  '{}',
  '{"seeking":["a"]}',
  '[1]',
  '{"text":',
  '',
  'POST /api/garden HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}',
  'text=a+form&identity=b&identityType=human',
] as const;
const PATHS = [
  '/api/garden',
  '/api/seeds',
  '/api/dreams',
  '/api/resonance',
  '/api/garden/',
  '/api/garden?as=me',
  '/api/garden?text=lost',
  '/api/%67arden',
  '/api/rooms',
  '/nowhere',
  'http://a/api/garden',
  '/api/garden#x',
  '*',
] as const;
const HEADERS = [
  'Content-Type: application/json',
  'content-type:application/json; charset=utf-8',
  'Content-Type: text/plain;charset=UTF-8',
  'User-Agent: fuzz',
  'accept: */*',
  'Accept-Language: uk',
  'Accept-Encoding: gzip',
  'accept-encoding: zstd, br',
  'Connection: keep-alive',
  'connection: Keep-Alive',
  'X-Forwarded-For: 10.0.0.1',
  'X-Forwarded-For: 192.0.2.7, 10.0.0.1',
  'Forwarded: for=192.0.2.7;proto=https',
  'X-Request-Id: 5f2c',
  'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  'Via: 1.1 caddy',
  'Origin: https://example.org',
  'Content-Type: application/x-ndjson',
  'Content-Type: application/x-www-form-urlencoded',
  'Content-Type: application/json, text/plain',
  'Content-Type: ',
  'Connection: close',
  'Connection: keep-alive, close',
  // What is malformed after one for an upgrade gets no answer from `node:http`.
  'Upgrade: h2c',
  'Expect: 100-continue',
  'Expect: something',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
  'Content-Length: 5',
  'Content-Length: 0',
  'Content-Encoding: gzip',
  'Prefer: return=minimal',
  'Idempotency-Key: "k"',
  'idempotency-key: k',
  'Idempotency-Key: 0',
  'Idempotency-Key:0',
  'Idempotency-Key: two words',
  'Idempotency-Key: k ',
  'Idempotency-Key: "a\\"b"',
  'Idempotency-Key: \u00e9',
  'Idempotency-Key: ""',
  'Idempotency-Key: ',
  'If-None-Match: *',
  'If-Match: "x"',
  'If-Modified-Since: Mon, 23 Nov 2026 07:00:00 GMT',
  'Range: bytes=0-9',
  'Accept: text/html',
  'Accept: application/x-ndjson',
  'Accept: text/event-stream',
  'Host: localhost',
  'HOST: localhost',
  'hOST: localhost',
  'Host : localhost',
  'User-Agent: a\tb',
  'User-Agent: a\u00e9',
  'User-Agent: a\u0001b',
  'User-Agent: a\r\n folded',
  'User-Agent: a\nAccept: b',
  'User-Agent: a\rAccept: b',
  'User-Agent : a',
  ' User-Agent: a',
  'User-Agent',
  ': a',
  'User-Agent:',
  '__proto__: a',
  'constructor: a',
  'X-Unknown: a',
] as const;
const VERSIONS = [' HTTP/1.0', ' HTTP/2.0', '  HTTP/1.1', ' HTTP/1.1 ', '', ' http/1.1'] as const;
const LENGTHS: readonly Post['lengthOf'][] = [
  (size: number) => `content-length:${size}`,
  (size: number) => `Content-Length: 0${size}`,
  (size: number) => `Content-Length: +${size}`,
  (size: number) => `Content-Length: ${size} `,
  (size: number) => `Content-Length:  ${size}`,
  (size: number) => `Content-Length: ${size},${size}`,
  (size: number) => `Content-Length: ${size + 1}`,
  (size: number) => `Content-Length: ${Math.max(0, size - 1)}`,
  (size: number) => `Content-Length: 0x${size.toString(16)}`,
  () => 'Content-Length: ',
  () => 'Content-Length: 99999999999999999999',
  () => 'X-No-Length: 1',
];
const HOSTS: readonly Post['host'][] = [
  [],
  ['Host: '],
  ['host:127.0.0.1'],
  ['Host: localhost', 'Host: localhost'],
  ['Host: a b'],
];

function textOf({ path, version, host, others, lengthOf, text }: Post): string {
  const body = Buffer.from(text);
  const lines = [`POST ${path}${version}`, ...host, ...others, lengthOf(body.length)];
  return `${lines.join('\r\n')}\r\n\r\n${body.toString('latin1')}`;
}

/** Each differs from a simple request in one respect at most. */
const DIFFERENT: readonly Post[] = [
  ...BODIES.map((text) => ({ ...SIMPLE, text })),
  ...PATHS.map((path) => ({ ...SIMPLE, path })),
  ...HEADERS.map((line) => ({ ...SIMPLE, others: [line] })),
  ...VERSIONS.map((version) => ({ ...SIMPLE, version })),
  ...LENGTHS.map((lengthOf) => ({ ...SIMPLE, lengthOf })),
  ...HOSTS.map((host) => ({ ...SIMPLE, host })),
  // The key of another entry.
  { ...SIMPLE, others: ['Idempotency-Key: k'], text: entry('not what the key stands for') },
];

const bodies = fc.oneof(
  { weight: 3, arbitrary: fc.string({ maxLength: 40, unit: 'binary' }).map(entry) },
  fc.constantFrom(...BODIES),
);
/** Short listings, which are sent in one piece, and paths of other things. */
const GET_PATHS = [
  '/api/garden?limit=2&order=oldest',
  '/api/garden?limit=0',
  '/api/everything?limit=1',
  '/api/rooms/first-breath?limit=1',
  '/api/garden?format=ndjson&limit=2',
  '/api/garden?limit=x',
  '/api/garden?q=here&limit=1',
  '/api/garden?after=0&wait=0&limit=1',
  '/api/garden/?limit=1',
  '/api/%67arden?limit=1',
  '/api/garden?limit=1#x',
  'http://a/api/garden?limit=1',
  '/healthz',
  '/nowhere',
  '*',
] as const;
const SIMPLE_GET: Head = {
  path: '/api/garden?limit=1',
  version: ' HTTP/1.1',
  host: ['Host: localhost'],
  others: [],
};

function getOf({ path, version, host, others }: Head): string {
  return `${[`GET ${path}${version}`, ...host, ...others].join('\r\n')}\r\n\r\n`;
}

/** Each differs from a `GET` that may bypass it in one respect at most. */
const DIFFERENT_GETS: readonly Head[] = [
  ...GET_PATHS.map((path) => ({ ...SIMPLE_GET, path })),
  ...HEADERS.map((line) => ({ ...SIMPLE_GET, others: [line] })),
  ...VERSIONS.map((version) => ({ ...SIMPLE_GET, version })),
  ...HOSTS.map((host) => ({ ...SIMPLE_GET, host })),
];

const headers = fc.array(fc.constantFrom(...HEADERS), { maxLength: 4 });
const anyPosts = fc.record({
  path: fc.constantFrom(SIMPLE.path, ...PATHS),
  version: fc.constantFrom(SIMPLE.version, ...VERSIONS),
  host: fc.constantFrom(SIMPLE.host, ...HOSTS),
  others: headers,
  lengthOf: fc.constantFrom(SIMPLE.lengthOf, ...LENGTHS),
  text: bodies,
});
const anyGets = fc.record({
  path: fc.constantFrom(SIMPLE_GET.path, ...GET_PATHS),
  version: fc.constantFrom(SIMPLE_GET.version, ...VERSIONS),
  host: fc.constantFrom(SIMPLE_GET.host, ...HOSTS),
  others: headers,
});
const simple = bodies.map((text) => textOf({ ...SIMPLE, text }));
/** It is answered at once: all that comes then is its body. */
const unread = fc.constant(
  'POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n',
);
const others = fc.constantFrom(
  'HEAD /api HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'OPTIONS /api/garden HTTP/1.1\r\nHost: localhost\r\n\r\n',
  `POST /api/garden HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${entry('c').length.toString(16)}\r\n${entry('c')}\r\n0\r\n\r\n`,
  '\r\n\r\n',
  '\n',
  'CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'FROB / HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'hello\r\n\r\n',
);
/** What comes over one connection: each string is sent by itself, or is divided further. */
export const streams = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: simple },
    { weight: 7, arbitrary: fc.constantFrom(...DIFFERENT).map(textOf) },
    { weight: 3, arbitrary: anyPosts.map(textOf) },
    { weight: 4, arbitrary: fc.constant(getOf(SIMPLE_GET)) },
    { weight: 3, arbitrary: fc.constantFrom(...DIFFERENT_GETS).map(getOf) },
    { weight: 1, arbitrary: anyGets.map(getOf) },
    { weight: 2, arbitrary: others },
    { weight: 1, arbitrary: unread },
  ),
  { minLength: 1, maxLength: 6 },
);
/** All at once; each request when the one before is answered; each by itself; or in such pieces. */
export const divisions = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('at once' as const, 'answered' as const, 'each' as const),
  },
  fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 20 }),
);
export type Division = (typeof divisions)['generate'] extends (...args: never) => { value: infer T }
  ? T
  : never;

export function divide(stream: readonly string[], division: Division): string[] {
  if (division === 'at once') return [stream.join('')];
  if (division === 'answered' || division === 'each') return [...stream];
  const text = stream.join('');
  const pieces: string[] = [];
  let at = 0;
  for (const size of division) pieces.push(text.slice(at, (at += size)));
  return [...pieces, text.slice(at)].filter((piece) => piece !== '');
}

/** Bypasses `node:http` if nothing comes before it that is not answered yet. */
export const SIMPLE_POST = textOf(SIMPLE);
export function keyedPost(key: string): string {
  return textOf({ ...SIMPLE, others: [`Idempotency-Key: "${key}"`] });
}
/** Each with a simple request before and after it. */
export const differentStreams: readonly string[][] = DIFFERENT.map((post) => [
  SIMPLE_POST,
  textOf(post),
  SIMPLE_POST,
]);

/** Each twice, and again when there is something new. */
export const repeatedGets: readonly string[][] = DIFFERENT_GETS.map(getOf).map((get) => [
  get,
  get,
  SIMPLE_POST,
  get,
  get,
]);
