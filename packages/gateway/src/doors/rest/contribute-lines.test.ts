import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { suite, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';

import { until } from '../../../../../conformance/until.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { openGateway, type TestGateway } from '../../gateway.fixture.ts';

type Members = Record<string, unknown>;

const NDJSON = { 'Content-Type': 'application/x-ndjson' };

const open = (): ReturnType<typeof openGateway> => openGateway(openMemoryLog());

async function post(
  gateway: TestGateway,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Members[]> {
  const init = { method: 'POST', body, headers: { ...NDJSON, ...headers } };
  const answer = await fetch(`${gateway.url}/api/seeds`, init);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/x-ndjson');
  return linesIn(await answer.text());
}

function linesIn(text: string): Members[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Members]));
}

function picked(results: readonly Members[], ...names: readonly string[]): unknown[] {
  return results.map((result) => names.map((name) => result[name]));
}

async function headOf(gateway: TestGateway): Promise<unknown> {
  const answer = await fetch(`${gateway.url}/api/seeds?limit=0`);
  return ((await answer.json()) as Members)['head'];
}

suite('lines of a contribution', () => {
  test('are stored in their order, each answered by its own members', async () => {
    await using gateway = await open();
    const body =
      '{"a":1}\n\n  \r\n{"a":2}\r\n{"room":"shepit-wall","inReplyTo":"nobody"}\n{"message":1}';
    const results = await post(gateway, body);
    assert.match(String(results[3]?.['notes']), /"message".*"text"/);
    assert.equal(results[0]?.['notes'], undefined);
    assert.match(String(results[2]?.['notes']), /inReplyTo/);
    assert.deepEqual(picked(results, 'line', 'status', 'seq'), [
      [1, 201, 1],
      [4, 201, 2],
      [5, 201, 3],
      [6, 201, 4],
    ]);
    const names = ['line', 'status', 'id', 'seq', 'kind', 'room', 'timestamp'];
    assert.deepEqual(Object.keys(results[0] ?? {}), names);
    const entry = await fetch(`${gateway.url}/api/entries/${String(results[1]?.['id'])}`);
    assert.equal(((await entry.json()) as Members)['a'], 2);
  });

  test('are judged one by one', async () => {
    await using gateway = await open();
    const long = 'x'.repeat(200_000);
    const lines = [
      '{}',
      '{"a":}',
      '[]',
      `{"a":"${long}"}`,
      `{"a":"${long}"`,
      '{"room":"no"}',
      '{}',
    ];
    const results = await post(gateway, lines.join('\n'));
    assert.deepEqual(picked(results, 'line', 'status', 'code', 'seq'), [
      [1, 201, undefined, 1],
      [2, 400, 'malformed-json', undefined],
      [3, 422, 'invalid-entry', undefined],
      [4, 201, undefined, 2],
      [5, 400, 'malformed-json', undefined],
      [6, 422, 'unknown-room', undefined],
      [7, 201, undefined, 3],
    ]);
    assert.equal(typeof results[1]?.['detail'], 'string');
    assert.equal(await headOf(gateway), 3);
  });

  test('may be none, in any pieces, and compressed', async () => {
    await using gateway = await open();
    assert.deepEqual(await post(gateway, ''), []);
    assert.deepEqual(await post(gateway, '\n \n'), []);
    assert.deepEqual(await post(gateway, '\uFEFF \r\n'), []);
    assert.deepEqual(await post(gateway, '\uFEFF'), []);
    const many = Array.from({ length: 5000 }, (_, n) => `{"n":${n}}\n`).join('');
    const gzipped = await post(gateway, gzipSync(many), { 'Content-Encoding': 'gzip' });
    assert.deepEqual(
      picked(gzipped, 'line', 'seq'),
      Array.from({ length: 5000 }, (_, n) => [n + 1, n + 1]),
    );
    await using caller = await gateway.connect();
    caller.send(
      'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/jsonl\r\n',
    );
    caller.send('Transfer-Encoding: chunked\r\n\r\n');
    for (const byte of '{"a":1}\n{"b":2}') caller.send(`1\r\n${byte}\r\n`);
    caller.send('0\r\n\r\n');
    await caller.until(/"line":2.*\r\n0\r\n\r\n$/s);
  });

  test('are answered while later ones are still being sent', async () => {
    await using gateway = await open();
    await using caller = await gateway.connect();
    caller.send(
      'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n',
    );
    caller.send('Transfer-Encoding: chunked\r\n\r\n');
    for (let line = 1; line <= 3; line++) {
      caller.send('3\r\n{}\n\r\n');
      await caller.until(new RegExp(`"line":${line},"status":201`));
    }
  });

  test('are answered after the last one to a caller who prefers that', async () => {
    await using gateway = await open();
    await using caller = await gateway.connect();
    let received = '';
    caller.socket.on('data', (piece) => {
      received += String(piece);
    });
    caller.send(
      'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n',
    );
    caller.send('Prefer: duplex=half\r\nTransfer-Encoding: chunked\r\n\r\n');
    // More results than wait in memory.
    const lines = '{}\n'.repeat(5000);
    caller.send(`${lines.length.toString(16)}\r\n${lines}\r\n`);
    await until(
      () => headOf(gateway),
      (head) => head === 5000,
      (head) => `Of 5,000 lines, ${String(head)} are stored.`,
    );
    await pause(100);
    assert.equal(received, '');
    caller.send('0\r\n\r\n');
    await caller.until(/"line":5000,"status":201.*\r\n0\r\n\r\n$/s);
    // Without the lines of the chunks.
    const results = received.replaceAll(/\r\n[\da-f]+\r\n/g, '');
    assert.deepEqual(
      Array.from(results.matchAll(/"line":(\d+),/g), ([, line]) => Number(line)),
      Array.from({ length: 5000 }, (_, n) => n + 1),
    );
  });

  test('stay when the connection breaks off, but for the unfinished one', async () => {
    await using gateway = await open();
    for (const rest of ['{"a":"unfinished', `{"a":"${'x'.repeat(200_000)}`]) {
      await using caller = await gateway.connect();
      caller.send(
        'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n',
      );
      caller.send(`Content-Length: 1000000\r\n\r\n{}\n{}\n${rest}`);
      await caller.until(/"line":2/);
      await pause(50);
      caller.socket.resetAndDestroy();
      await pause(50);
    }
    assert.equal(await headOf(gateway), 4);
    assert.deepEqual(gateway.reported, []);
  });

  test('are read no further once the caller has left', async () => {
    await using gateway = await open();
    const lines = gzipSync('{}\n'.repeat(5_000_000));
    const head = `POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: ${lines.length}\r\n`;
    // Whoever gets no results before the end is known to have left by its silence alone.
    for (const more of ['', 'Prefer: duplex=half\r\n']) {
      await using caller = await gateway.connect();
      const before = Number(await headOf(gateway));
      caller.send(`${head}Content-Type: application/x-ndjson\r\n${more}\r\n`);
      caller.send(lines);
      const stored = (): Promise<number> => headOf(gateway).then(Number);
      await until(stored, (now) => now > before, String);
      caller.socket.destroy();
      let last = -1;
      await until(
        async () => {
          const earlier = last;
          last = await pause(200, await stored());
          return last === earlier;
        },
        (isOver) => isOver,
        () => `The gateway goes on: it has stored ${last}.`,
      );
      assert.ok(last < before + 5_000_000);
    }
    assert.deepEqual(gateway.reported, []);
  });

  test('that cannot be decoded any more are said to be so, after those before', async () => {
    await using gateway = await open();
    const body = gzipSync('{}\n'.repeat(5000)).subarray(0, -4);
    const results = await post(gateway, body, { 'Content-Encoding': 'gzip' });
    const last = results.at(-1);
    assert.deepEqual([last?.['status'], last?.['code']], [400, 'invalid-parameter']);
    assert.equal(results.filter(({ status }) => status === 201).length, await headOf(gateway));
  });

  test('before what is no chunk are answered, and the last result says what is wrong', async () => {
    await using gateway = await open();
    const chunk = (bytes: Buffer): string =>
      `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`;
    for (const [header, body] of [
      ['', Buffer.from('{"a":1}\n{"a":')],
      ['Content-Encoding: gzip\r\n', gzipSync('{"a":1}\n{"a":')],
    ] as const) {
      const before = await headOf(gateway);
      const head = `POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n${header}Transfer-Encoding: chunked\r\n\r\n`;
      for (const isPaused of [false, true]) {
        await using caller = await gateway.connect();
        caller.send(Buffer.from(head + chunk(body), 'latin1'));
        if (isPaused) await caller.until(/"line":1,"status":201/);
        caller.send('zz\r\n');
        const received = await caller.untilClosed();
        assert.match(received, /"status":400.*"code":"invalid-parameter"/);
        assert.match(received, /chunk size/);
        assert.match(received, /\r\n0\r\n\r\n$/);
      }
      assert.ok(Number(await headOf(gateway)) > Number(before));
    }
    assert.deepEqual(gateway.reported, []);
  });

  test('after a frame that are not compressed are refused, not left out', async () => {
    await using gateway = await open();
    const body = Buffer.concat([
      zstdCompressSync('{"a":1}\n'),
      Buffer.from('\n'),
      zstdCompressSync('{"a":2}\n'),
    ]);
    const results = await post(gateway, body, { 'Content-Encoding': 'zstd' });
    assert.equal(results.at(-1)?.['code'], 'invalid-parameter');
  });

  test('are refused whole where the key or the encoding is invalid', async () => {
    await using gateway = await open();
    for (const headers of [{ 'Idempotency-Key': '' }, { 'Content-Encoding': 'x' }]) {
      const init = { method: 'POST', body: '{}\n', headers: { ...NDJSON, ...headers } };
      const answer = await fetch(`${gateway.url}/api/seeds`, init);
      assert.equal(answer.status, 400);
      assert.equal(((await answer.json()) as Members)['code'], 'invalid-parameter');
    }
    assert.equal(await headOf(gateway), 0);
  });

  test('have keys of their own, so that the whole may be sent again', async () => {
    await using gateway = await open();
    const key = { 'Idempotency-Key': '"k"' };
    const first = await post(gateway, '{"a":1}\n{"a":1}\n{"a":}', key);
    const again = await post(gateway, '{"a":1}\n{"a":2}\n{"a":3}', key);
    assert.deepEqual(picked(first, 'status', 'seq').slice(0, 2), [
      [201, 1],
      [201, 2],
    ]);
    assert.deepEqual(again[0], { ...first[0], repeated: true });
    assert.deepEqual(picked(again, 'status', 'code', 'seq').slice(1), [
      [422, 'idempotency-conflict', undefined],
      [201, undefined, 3],
    ]);
    const single = await fetch(`${gateway.url}/api/seeds`, {
      method: 'POST',
      body: '{"a":3}',
      headers: { 'Idempotency-Key': 'k 3' },
    });
    assert.equal(((await single.json()) as Members)['seq'], 3);
  });

  test('are answered to a caller who reads nothing before all is sent', async () => {
    await using gateway = await open();
    const count = 40_000;
    const sent = httpRequest(`${gateway.url}/api/seeds`, { method: 'POST', headers: NDJSON });
    const { promise: response, resolve } = Promise.withResolvers<NodeJS.ReadableStream>();
    // Paused until it has a reader.
    sent.once('response', resolve);
    for (let line = 1; line <= count; line += 1000) {
      if (!sent.write('{"a":}\n'.repeat(1000))) {
        await new Promise((drained) => sent.once('drain', drained));
      }
    }
    sent.end();
    const pieces = await Array.fromAsync(await response, String);
    const results = linesIn(pieces.join(''));
    assert.deepEqual(
      results.map(({ line }) => line),
      Array.from({ length: count }, (_, at) => at + 1),
    );
  });

  test('are stored once each by a caller who loses every second connection', async () => {
    await using gateway = await open();
    const count = 10_000;
    const body = Array.from({ length: count }, (_, n) => `{"n":${n}}\n`).join('');
    const headers = { 'Idempotency-Key': 'whole' };
    for (let attempt = 1; attempt <= 3; attempt++) {
      await using caller = await gateway.connect();
      caller.send(
        'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n',
      );
      caller.send(`Idempotency-Key: whole\r\nContent-Length: ${body.length}\r\n\r\n`);
      caller.send(body.slice(0, attempt * 30_000));
      await caller.until(new RegExp(`"line":${attempt * 1500},`));
      caller.socket.resetAndDestroy();
      if (attempt < 3) continue;
      const results = await post(gateway, body, headers);
      assert.deepEqual(
        picked(results, 'line', 'status'),
        Array.from({ length: count }, (_, n) => [n + 1, 201]),
      );
    }
    assert.equal(await headOf(gateway), count);
  });
});
