/**
 * Requests that bypass `node:http` have the same effect as through it: what one gateway that lets
 * them bypass it answers, and stores, equals byte for byte what one answers that does not, whatever
 * else comes over the connection, and wherever packets divide it.
 */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

import fc from 'fast-check';

import { until } from '../../conformance/until.ts';
import { openGateway, type TestGateway } from '../../packages/gateway/src/gateway.fixture.ts';
import type { AppendOutcome, Log } from '../../packages/gateway/src/log/log.ts';
import type { RequestObserver } from '../../packages/gateway/src/http/request-observer.ts';
import { openMemoryLog } from '../support/memory-log/memory-log.ts';
import {
  differentStreams,
  divide,
  divisions,
  FAIL,
  keyedPost,
  REFUSE,
  repeatedGets,
  SIMPLE_POST,
  streams,
  type Division,
} from './generated-requests.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 70);
const SIMPLE_COUNT = 20;
/** Ends a connection, so that all that was received is known. */
const LAST = 'GET /api/garden?limit=0 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const REFUSED: AppendOutcome = { outcome: 'refused', code: 'out-of-space' };

interface ComparedGateway extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly log: Log;
  /** How many entries were stored without `node:http`. */
  bypassed(): number;
  /** What metrics and the log of requests were told of each request. */
  readonly observed: readonly string[];
}

/** Its log takes a moment to store what is appended, and fails where the text says so. */
async function openCompared(bypass: boolean, delayMs: number): Promise<ComparedGateway> {
  const memory = openMemoryLog();
  let bypassed = 0;
  const failureOf = (body: unknown): AppendOutcome | undefined => {
    const text = body instanceof Uint8Array ? Buffer.from(body).toString() : '';
    if (text.includes(FAIL)) throw new Error('of the store');
    return text.includes(REFUSE) ? REFUSED : undefined;
  };
  const append: Log['append'] = async (draft) => {
    const failure = failureOf(draft.body);
    await pause(delayMs);
    return failure ?? (await memory.append(draft));
  };
  const appendSmall: Log['appendSmall'] = (draft, onResult) => {
    const failure = failureOf(draft.body);
    bypassed += 1;
    setTimeout(
      () => (failure === undefined ? memory.appendSmall(draft, onResult) : onResult(failure)),
      delayMs,
    );
  };
  const own: Partial<Log> = { append, appendSmall };
  const log = new Proxy<Log>(memory, {
    get(target, name) {
      const value: unknown = Reflect.get(name in own ? own : target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const observed: string[] = [];
  const observe: RequestObserver = ({ method, route, status, isStream, isAborted }) => {
    observed.push(`${method} ${route.path} ${route.door} ${status} ${isStream} ${isAborted}`);
  };
  const gateway = await openGateway(log, { bypass, observe });
  return {
    gateway,
    log: memory,
    observed,
    bypassed: () => bypassed,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

async function openPair(
  delayMs: number,
): Promise<AsyncDisposable & { readonly both: readonly [ComparedGateway, ComparedGateway] }> {
  await using opened = new AsyncDisposableStack();
  const both = [
    opened.use(await openCompared(true, delayMs)),
    opened.use(await openCompared(false, delayMs)),
  ] as const;
  const rest = opened.move();
  return { both, [Symbol.asyncDispose]: () => rest.disposeAsync() };
}

/** Without what differs between any two gateways: dates, ids, and compressed bytes. */
function comparable(received: string): string {
  const ENCODED = /Content-Encoding: (gzip|zstd)\r\n/;
  const parts: string[] = [];
  for (let rest = received; rest !== '';) {
    const headEnd = rest.indexOf('\r\n\r\n') + 4;
    const head = headEnd < 4 ? rest : rest.slice(0, headEnd);
    // An interim response has no body; the final one follows.
    const unknownLength = head.startsWith('HTTP/1.1 1') ? 0 : rest.length;
    const length = Number(/Content-Length: (\d+)\r\n/.exec(head)?.[1] ?? unknownLength);
    const body = Buffer.from(rest.slice(head.length, head.length + length), 'latin1');
    rest = rest.slice(head.length + length);
    const encoding = ENCODED.exec(head)?.[1];
    const isWhole = encoding !== undefined && body.length === length;
    const decode = encoding === 'gzip' ? gunzipSync : zstdDecompressSync;
    parts.push(isWhole ? head.replace(/Content-Length: \d+/, '') : head);
    parts.push((isWhole ? decode(body) : body).toString('latin1'));
  }
  return (
    parts
      .join('')
      .replaceAll(/Date: [^\r]*/g, 'Date')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/"log":"[^"]*"/g, 'LOG')
      .replaceAll(/ETag: [^\r]*/g, 'ETag')
      // A page names its gateway.
      .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS')
  );
}

async function storedIn({ log }: ComparedGateway): Promise<string> {
  const texts: Buffer[] = [];
  for await (const chunk of log.readText({ facets: [], order: 'oldest' }, '\n'))
    texts.push(Buffer.from(chunk));
  return comparable(Buffer.concat(texts).toString('latin1'));
}

async function exchange(
  { gateway }: ComparedGateway,
  stream: readonly string[],
  division: Division,
): Promise<string> {
  await using caller = await gateway.connect();
  caller.socket.setNoDelay(true);
  for (const piece of [...divide(stream, division), LAST]) {
    if (caller.socket.destroyed) break;
    const before = caller.received.length;
    caller.send(Buffer.from(piece, 'latin1'));
    await pause(1);
    if (division !== 'answered') continue;
    for (let tries = 0; tries < 20 && caller.received.length === before; tries += 1) await pause(1);
  }
  // What is incomplete ends here. Turns are counted, not time: the gateway is in this process.
  let length = caller.received.length;
  for (let quietTurns = 0; quietTurns < 100 && !caller.socket.destroyed; quietTurns += 1) {
    await pause(2);
    if (caller.received.length !== length) quietTurns = 0;
    length = caller.received.length;
  }
  caller.socket.end();
  return comparable(await caller.untilClosed());
}

async function assertSame(
  { both }: Awaited<ReturnType<typeof openPair>>,
  stream: readonly string[],
  division: Division,
): Promise<void> {
  const [ours, expected] = await Promise.all(
    both.map((compared) => exchange(compared, stream, division)),
  );
  assert.equal(ours, expected);
  assert.equal(await storedIn(both[0]), await storedIn(both[1]));
  // The end of a response is observed when its caller may already have it.
  await until(
    async () => both.map(({ observed }) => observed.join('\n')),
    ([own, other]) => own === other,
    ([own, other]) => `observed:\n${own}\nthrough node:http:\n${other}`,
  );
}

test('what bypasses node:http is answered and stored as through it', async () => {
  await using pair = await openPair(2);
  await fc.assert(
    fc.asyncProperty(streams, divisions, (stream, division) => assertSame(pair, stream, division)),
    { numRuns: RUNS },
  );
});

test('each simple request bypasses node:http where it may', async () => {
  await using pair = await openPair(0);
  for (const compared of pair.both) {
    await using caller = await compared.gateway.connect();
    for (let count = 1; count <= SIMPLE_COUNT; count += 1) {
      caller.send(count % 2 === 0 ? SIMPLE_POST : keyedPost(`key-${count}`));
      await caller.untilText(`"seq":${count},`);
    }
    assert.equal(compared.bypassed(), compared === pair.both[0] ? SIMPLE_COUNT : 0);
  }
});

test('whatever differs from a simple request is answered as through node:http', async () => {
  await using pair = await openPair(0);
  for (const stream of differentStreams) await assertSame(pair, stream, 'answered');
});

test('a GET that is sent again is answered as through node:http', async () => {
  await using pair = await openPair(0);
  for (const stream of repeatedGets) await assertSame(pair, stream, 'answered');
});
