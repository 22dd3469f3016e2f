import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { suite, test } from 'node:test';

import { until } from '../../../../../conformance/until.ts';
import { GARDEN_ENTRY, openGateway, type Caller } from '../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { isOneHead, RepeatedGets } from './repeated-get.ts';
import type { RequestObserver } from '../request-observer.ts';

const LIST = 'GET /api/garden?order=oldest HTTP/1.1\r\nHost: localhost\r\n\r\n';
const POST = `POST /api/garden HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${GARDEN_ENTRY.length}\r\n\r\n${GARDEN_ENTRY}`;
const LIST_END = /"next":[^\n]*\n/;
/** The second is the first that may bypass it. */
const TIMES = [1, 2, 3];
const ROUTE = { path: '/api/garden', door: 'rest' };

/** Whether it is found again when it comes as `again`. */
function isRemembered(text: string, again = text): boolean {
  const gets = new RepeatedGets();
  const bytes = Buffer.from(text, 'latin1');
  const request = new IncomingMessage(new Socket());
  gets.allow(request, () => undefined);
  if (isOneHead(bytes)) gets.remember(bytes, request, ROUTE);
  return gets.get(Buffer.from(again, 'latin1')) !== undefined;
}

function withHeaders(...lines: readonly string[]): string {
  return `GET /api/garden HTTP/1.1\r\nHost: localhost\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
}

test('a GET is remembered with headers that clients send, and with no others', () => {
  assert.ok(isRemembered(LIST));
  const taken = [
    'Accept: */*',
    'accept-encoding: gzip, deflate, br, zstd',
    'Accept-Language: uk',
    'Connection: keep-alive',
    'Sec-Fetch-Site: same-origin',
    'User-Agent: curl/8.5.0',
  ];
  for (const line of taken) assert.ok(isRemembered(withHeaders(line)), line);
  const left = [
    'If-None-Match: *',
    'If-Modified-Since: Mon, 23 Nov 2026 07:00:00 GMT',
    'Range: bytes=0-9',
    'Connection: close',
    'Content-Length: 0',
    'Content-Type: text/plain',
    'Expect: 100-continue',
    'Host: again',
    'Transfer-Encoding: chunked',
    'Upgrade: h2c',
    'X-Unknown: 1',
    `User-Agent: ${'a'.repeat(1024)}`,
  ];
  for (const line of left) assert.ok(!isRemembered(withHeaders(line)), line);
  const others = [
    LIST.replace('GET', 'HEAD'),
    LIST.replace('1.1', '1.0'),
    LIST.replace('Host: localhost\r\n', ''),
    `${LIST}${LIST}`,
    LIST.slice(0, -1),
  ];
  for (const text of others) assert.ok(!isRemembered(text), text);
});

test('a GET is the same whatever a proxy says of its caller', () => {
  for (const name of ['X-Forwarded-For', 'x-real-ip', 'Forwarded', 'X-Request-Id', 'traceparent']) {
    const [one, other] = [withHeaders(`${name}: 10.0.0.1`), withHeaders(`${name}: for=_b;by=c`)];
    assert.ok(isRemembered(one, other), name);
    assert.ok(!isRemembered(one, LIST.replace('garden', 'seeds')), name);
  }
  const [curl, other] = [withHeaders('User-Agent: curl'), withHeaders('User-Agent: other')];
  assert.ok(!isRemembered(curl, other));
});

/** Sends it, and resolves to what is received until this comes. */
async function exchange(caller: Caller, text: string, end: RegExp): Promise<string> {
  caller.received = '';
  caller.send(text);
  return await caller.until(end);
}

for (const bypass of [true, false]) {
  suite(bypass ? 'a GET that bypasses node:http' : 'the same through node:http', () => {
    test('has what was stored meanwhile', async () => {
      await using gateway = await openGateway(openMemoryLog(), { bypass });
      await using caller = await gateway.connect();
      for (let count = 0; count < 4; count += 1) {
        for (const _ of TIMES) {
          const received = await exchange(caller, LIST, LIST_END);
          assert.match(received, new RegExp(`"head":${count},`));
        }
        await exchange(caller, POST, new RegExp(`"seq":${count + 1},`));
      }
    });

    test('does not have what was withheld meanwhile', async () => {
      const log = openMemoryLog();
      await using gateway = await openGateway(log, { bypass });
      await gateway.addEntries('to be taken away');
      await using caller = await gateway.connect();
      for (const _ of TIMES)
        assert.match(await exchange(caller, LIST, LIST_END), /to be taken away/);
      await log.withhold([1], 'a wish');
      const received = await exchange(caller, LIST, LIST_END);
      assert.match(received, /"entries":\[\n\]/);
      assert.doesNotMatch(received, /to be taken away/);
    });

    test('is observed as other requests are', async () => {
      const observed: string[] = [];
      const observe: RequestObserver = ({ method, route, status, isStream, bytesSent }) => {
        observed.push(`${method} ${route.path} ${status} ${isStream} ${bytesSent}`);
      };
      await using gateway = await openGateway(openMemoryLog(), { bypass, observe });
      await using caller = await gateway.connect();
      for (const _ of TIMES) await exchange(caller, LIST, LIST_END);
      const all = await until(
        async () => observed,
        ({ length }) => length === TIMES.length,
        (found) => `observed ${found.length} requests`,
      );
      assert.equal(new Set(all).size, 1, all.join('\n'));
      assert.match(all[0] ?? '', /^GET \/api\/garden 200 false [1-9]/);
    });
  });
}
