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

const fast = `POST /api/shepit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12\r\n\r\n{"text":"x"}`;

suite('requests over one connection', () => {
  test('of both kinds are answered in order, wherever packets divide them', async () => {
    await using gateway = await open();
    const missing = getRequest('/nowhere');
    const text = `${listing}${fast}${listing}${missing}${sized}${listing}${chunked}${fast}${missing}`;
    for (const size of [1, 2, 7, 50, 150, text.length]) {
      await using caller = await gateway.connect();
      caller.socket.setNoDelay(true);
      for (let at = 0; at < text.length; at += size) {
        caller.send(text.slice(at, at + size));
        await pause(0);
      }
      const received = await caller.until(/"code":"not-found".*"code":"not-found"/s);
      const expected = [200, 201, 200, 404, 201, 200, 201, 201, 404];
      assert.deepEqual(statusesIn(received), expected, `${size} bytes`);
    }
  });

  test('that could be read in two ways are refused, and end the connection', async () => {
    await using gateway = await open();
    for (const head of [
      'Content-Length: 2\r\nTransfer-Encoding: chunked',
      'Content-Length: 2\r\nContent-Length: 3',
      'Content-Length: 2\r\nX: y\r\n folded\nTransfer-Encoding: chunked',
      'Content-Length : 2',
    ]) {
      const post = `POST /api/seeds HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n{}`;
      const received = await gateway.sendRaw(`${fast}${post}${listing}`);
      assert.deepEqual(statusesIn(received).at(-1), 400, head);
    }
  });

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

  test('are answered whole by node:http where one comes before the answer to another has left', async () => {
    await using gateway = await open();
    const long = GARDEN_ENTRY.replace('{', `{"more":"${'x'.repeat(300_000)}",`);
    const large = `${CHUNKED}${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`;
    await using caller = await gateway.connect();
    const lines = getRequest('/api/garden', 'Accept: application/x-ndjson');
    caller.send(`${large}${lines}${lines}${getRequest('/nowhere')}`);
    const received = await caller.untilText('"code":"not-found"');
    assert.deepEqual(statusesIn(received), [201, 200, 200, 404]);
    assert.ok(received.split('x').length > 600_000);
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
    await using caller = await gateway.connect();
    const upgrade =
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
    caller.send(sized.replace('\r\n', `\r\n${upgrade}`));
    await caller.until(/"seq":1/);
    caller.send(`${listing}${getRequest('/nowhere')}`);
    const received = await caller.until(/"code":"not-found"/);
    assert.deepEqual(statusesIn(received), [201, 200, 404]);
  });

  test('may have heads of a megabyte, in many packets', async () => {
    await using gateway = await open();
    const long = getRequest(
      `/api/garden?seeking=${'n'.repeat(400_000)}`,
      `X: ${'h'.repeat(600_000)}`,
    );
    await using caller = await gateway.connect();
    caller.send(`${listing}${long}${chunked}${getRequest('/nowhere')}`);
    const received = await caller.until(/"code":"not-found"/);
    assert.deepEqual(statusesIn(received), [200, 200, 201, 404]);
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
