import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { MAX_HEADER_SIZE } from '@open-presence/protocol';

import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import {
  bodyIn,
  GARDEN_ENTRY,
  getRequest,
  openGateway,
  statusesIn,
  type TestGateway,
} from '../../gateway.fixture.ts';

const open = (): Promise<TestGateway> => openGateway(openMemoryLog());
const listing = getRequest('/api/garden');
const CHUNKED =
  'POST /api/garden HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunked = `${CHUNKED}${GARDEN_ENTRY.length.toString(16)}\r\n${GARDEN_ENTRY}\r\n0\r\n\r\n`;
const sized = `POST /api/garden HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${GARDEN_ENTRY.length + 4}\r\n\r\n\r\n\r\n${GARDEN_ENTRY}`;

suite('pipelined requests', () => {
  const rest: Readonly<Record<string, readonly [string, number]>> = {
    'bytes that are no HTTP': ['hello there\r\n\r\n', 400],
    'another version': ['GET / HTTP/3.7\r\nHost: localhost\r\n\r\n', 400],
    'an unknown method': ['FROB /api/garden HTTP/1.1\r\nHost: localhost\r\n\r\n', 405],
    'an unknown method of an unknown path': [
      'FROB /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n',
      404,
    ],
    CONNECT: ['CONNECT /api/garden HTTP/1.1\r\nHost: localhost\r\n\r\n', 405],
  };
  for (const [name, [text, status]] of Object.entries(rest)) {
    test(`are answered whole before ${name}`, async () => {
      await using gateway = await open();
      await gateway.addEntries('here');
      await using caller = await gateway.connect();
      caller.send(`${listing}${chunked}${listing}${text}`);
      const received = await caller.until(/"status":4\d\d.*\n$/s);
      assert.deepEqual(statusesIn(received), [200, 201, 200, status]);
      assert.equal(received.match(/"next":null\}/g)?.length, 2);
    });
  }

  test('are all answered to a caller who has ended its half of the connection', async () => {
    await using gateway = await open();
    const texts = { listing, chunked, sized, several: `${listing}${sized}${chunked}${listing}` };
    for (const [name, text] of Object.entries(texts)) {
      await using caller = await gateway.connect();
      caller.socket.allowHalfOpen = true;
      caller.socket.end(text);
      const statuses = statusesIn(await caller.untilClosed());
      assert.deepEqual(statuses.length, name === 'several' ? 4 : 1, name);
      assert.ok(
        statuses.every((status) => status < 300),
        name,
      );
    }
  });

  test('go on after a long body that was refused before it had come', async () => {
    await using gateway = await open();
    await using caller = await gateway.connect();
    const size = 3 * MAX_HEADER_SIZE;
    caller.send('POST /nowhere HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
    await caller.until(/"code":"not-found"/);
    caller.send(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`);
    caller.send(listing);
    assert.deepEqual(statusesIn(await caller.until(/"next":null\}/)), [404, 200]);
  });

  test('are answered in full to a caller who has ended its half, however long that takes', async () => {
    const log = Object.assign(openMemoryLog(), {
      async *readText() {
        // More than is held back until it is complete.
        yield Buffer.from(GARDEN_ENTRY.padEnd(300_000));
        // Longer than a caller who has nothing more to send is waited for in silence.
        for (let count = 0; count < 6; count += 1) {
          await pause(500);
          yield Buffer.from(`\n${GARDEN_ENTRY}`);
        }
        return { last: undefined, more: false };
      },
    });
    await using gateway = await openGateway(log);
    await using caller = await gateway.connect();
    caller.socket.allowHalfOpen = true;
    caller.socket.end(getRequest('/api/garden?wait=1&after=0', 'Accept: application/x-ndjson'));
    assert.equal((await caller.untilClosed()).match(/ai_entity/g)?.length, 7);
  });

  test('are answered before Connection: close, whatever follows', async () => {
    await using gateway = await open();
    const last = getRequest('/api/garden', 'Connection: close');
    for (const text of [listing, 'hello', `hello\r\n\r\n${'x'.repeat(1_000_000)}`]) {
      await using caller = await gateway.connect();
      caller.send(`${listing}${last}${text}`);
      await caller.until(/"next":null\}\n.*"next":null\}\n/s);
      caller.socket.end();
      assert.deepEqual(statusesIn(await caller.untilClosed()), [200, 200]);
    }
  });

  test('are answered before Connection: close, also while the body is still sent', async () => {
    await using gateway = await open();
    const headers = 'Connection: close\r\nContent-Encoding: compress';
    await using caller = await gateway.connect();
    const errors: Error[] = [];
    caller.socket.on('error', (error) => errors.push(error));
    caller.socket.allowHalfOpen = true;
    const ended = once(caller.socket, 'end');
    caller.send(CHUNKED.replace('\r\n', `\r\n${headers}\r\n`));
    await ended;
    for (let n = 0; n < 100; n += 1) {
      const written = Promise.withResolvers<void>();
      caller.socket.write(`2710\r\n${'x'.repeat(10_000)}\r\n`, () => written.resolve());
      await written.promise;
    }
    caller.socket.end();
    assert.deepEqual(statusesIn(await caller.untilClosed()), [400]);
    assert.deepEqual(errors, []);
  });

  test('after an upgrade that is not taken are answered', async () => {
    await using gateway = await open();
    const upgrade = 'Connection: upgrade\r\nUpgrade: h2c\r\n';
    const first = [listing, chunked, sized].map((text) => text.replace('\r\n', `\r\n${upgrade}`));
    const received = await gateway.sendRaw(
      `${first.join('')}${getRequest('/api/rooms')}${getRequest('/nowhere')}`,
      /"code":"not-found"/,
    );
    assert.deepEqual(statusesIn(received), [200, 201, 201, 200, 404]);
  });

  test('are understood wherever packets divide them', async () => {
    await using gateway = await open();
    const text = `${listing}${chunked}\r\n\r\n${sized}${getRequest('/nowhere')}`;
    for (const size of [1, 2, 3, 5, 7, 50, 150]) {
      await using caller = await gateway.connect();
      caller.socket.setNoDelay(true);
      for (let at = 0; at < text.length; at += size) {
        caller.send(text.slice(at, at + size));
        await pause(0);
      }
      const received = await caller.until(/"code":"not-found"/);
      assert.deepEqual(statusesIn(received), [200, 201, 201, 404]);
    }
  });

  test('are understood with heads of many packets', async () => {
    await using gateway = await open();
    const [seeking, ignored] = ['n'.repeat(400_000), 'h'.repeat(600_000)];
    const long = getRequest(`/api/garden?seeking=${seeking}`, `X-Ignored: ${ignored}`);
    const text = `${long}${chunked}${long}${getRequest('/nowhere')}`;
    for (const size of [30_000, 65_536, 65_539, 400_000]) {
      await using caller = await gateway.connect();
      caller.socket.setNoDelay(true);
      for (let at = 0; at < text.length; at += size) {
        caller.send(text.slice(at, at + size));
        await pause(1);
      }
      const received = await caller.until(/"code":"not-found"/);
      assert.deepEqual(statusesIn(received), [200, 201, 200, 404]);
    }
  });

  test('are understood with a long head whose last packet has a whole body', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await using caller = await gateway.connect();
    const key = 'k'.repeat(1_000_000);
    const body = '{"text":"x"}';
    const end = `\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    caller.send(`POST /api/shepit HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: ${key}`);
    // Time for what was sent to arrive, so that the end is a packet of its own.
    await pause(200);
    caller.send(end);
    const [, id] = /"id":"([^"]+)"/.exec(await caller.until(/"text":"x"\}/)) ?? [];
    const again = `${gateway.url}/api/shepit?idempotency-key=${key}`;
    const answer = (await (await fetch(again, { method: 'POST', body })).json()) as { id: string };
    assert.equal(answer.id, id);
  });

  test('start when the response before is finished', async () => {
    const memory = openMemoryLog();
    const gates: (() => void)[] = [];
    let isOpen = false;
    const log = Object.assign(memory, {
      async *readText() {
        const { promise, resolve } = Promise.withResolvers<void>();
        gates.push(resolve);
        if (!isOpen) await promise;
        yield Buffer.from(GARDEN_ENTRY);
        return { last: undefined, more: false };
      },
    });
    await using gateway = await openGateway(log);
    await using caller = await gateway.connect();
    const paths = Array.from({ length: 3000 }, (_, at) => `/api/garden?x=${at}`);
    caller.send(paths.map((path) => getRequest(path)).join(''));
    for (let count = 1; count <= 20; count += 1) {
      while (gates.length < count) await pause(1);
      await fetch(`${gateway.url}/healthz`);
      assert.equal(gates.length, count);
      gates.at(-1)?.();
    }
    caller.socket.destroy();
    isOpen = true;
    for (const open of gates) open();
    while (gates.length < 21) await pause(1);
    for (const open of gates) open();
  });
});

suite('an unknown method', () => {
  test('is 405 for a path of any length', async () => {
    await using gateway = await open();
    await using caller = await gateway.connect();
    caller.send(`FROB /api/garden?${'x'.repeat(300_000)}`);
    await pause(20);
    caller.send(`${'x'.repeat(300_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const received = await caller.until(/"code":.*\n$/s);
    assert.deepEqual(statusesIn(received), [405]);
    assert.equal(bodyIn(received)['code'], 'method-not-allowed');
  });

  test('with a target beyond the limit is 400', async () => {
    await using gateway = await open();
    const received = await gateway.sendRaw(`FROB /${'x'.repeat(2 * 1024 * 1024)}`, /"code":.*\n$/s);
    assert.deepEqual(statusesIn(received), [400]);
    assert.match(String(bodyIn(received)['detail']), /1048576 bytes/);
  });
});

suite('a stop', () => {
  test('does not wait for a head that is not complete, or a body that does not move', async () => {
    const gateway = await open();
    await using head = await gateway.connect();
    head.send('GET /api/garden HTTP/1.1\r\nHost:');
    await using later = await gateway.connect();
    later.send(`${getRequest('/healthz')}GET /`);
    await later.until(/breathing/);
    await using body = await gateway.connect();
    body.send(`${CHUNKED}1\r\n`);
    await pause(100);
    const stopped = gateway[Symbol.asyncDispose]();
    await Promise.all([head.untilClosed(), later.untilClosed()]);
    assert.equal(body.socket.destroyed, false);
    await stopped;
    await body.untilClosed();
  });
});
