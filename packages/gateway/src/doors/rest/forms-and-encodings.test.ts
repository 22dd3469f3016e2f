import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { suite, test } from 'node:test';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { openGateway, statusesIn, GARDEN_ENTRY, type TestGateway } from '../../gateway.fixture.ts';

type Members = Record<string, unknown>;

async function post(
  gateway: TestGateway,
  path: string,
  body: RequestInit['body'],
  headers: Record<string, string> = {},
): Promise<{ status: number; members: Members }> {
  const answer = await fetch(gateway.url + path, { method: 'POST', body: body ?? null, headers });
  return { status: answer.status, members: (await answer.json()) as Members };
}

suite('a contribution as a form', () => {
  test('becomes the entry that its fields are, from curl and from browsers', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const fields = { text: 'Ранок & вечір', identity: 'Lumen', identityType: 'ai_entity' };
    const multipart = new FormData();
    for (const [name, value] of Object.entries(fields)) multipart.append(name, value);
    for (const body of [new URLSearchParams(fields), multipart]) {
      const { status, members } = await post(gateway, '/api/garden', body);
      assert.equal(status, 201);
      const { id: _, seq: __, kind, room: ___, timestamp: ____, ...sent } = members;
      assert.deepEqual({ kind, sent }, { kind: 'garden', sent: fields });
    }
  });

  test('is a text where it has no "=", and addresses each name between commas', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const long = 'a & b '.repeat(20_000).trimEnd();
    for (const [body, text] of [
      ['psst', 'psst'],
      ['1+1 & so on, 100%', '1+1 & so on, 100%'],
      ['quiet%20here', 'quiet here'],
      [long, long],
    ] as const) {
      const { status, members } = await post(gateway, '/api/shepit', body, headers);
      assert.equal(status, 201);
      const stored = await fetch(`${gateway.url}/api/entries/${String(members['id'])}`);
      const {
        id: _,
        seq: __,
        kind: ___,
        room: ____,
        timestamp: _____,
        ...said
      } = (await stored.json()) as Members;
      assert.deepEqual(said, { text });
    }
    const form = new URLSearchParams({ text: 'hello', to: 'boss, ann' });
    form.append('to', 'Мова');
    const named = ['boss', 'ann', 'Мова'];
    assert.deepEqual((await post(gateway, '/api/seeds', form)).members['to'], named);
    const asked = await fetch(`${gateway.url}/api/say/seeds?${form.toString()}`);
    assert.deepEqual(((await asked.json()) as Members)['to'], named);
  });

  test('is one entry, however often it is sent with its key', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const text of ['hello', 'x'.repeat(200_000)]) {
      const form = new URLSearchParams({ text, 'idempotency-key': `k${text.length}` });
      const first = await post(gateway, '/api/seeds', form);
      const again = await post(gateway, '/api/seeds', form);
      assert.deepEqual([first.status, again.status], [201, 201]);
      assert.equal(again.members['id'], first.members['id']);
    }
  });

  test('or a query has one key, since a retry could not tell which of two counts', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const [path, body, expected] of [
      ['/api/seeds', 'text=a&idempotency-key=k&idempotency-key=l', 400],
      ['/api/seeds?idempotency-key=k&idempotency-key=l', 'text=a', 400],
      ['/api/seeds?idempotency-key=k&idempotency-key=k', 'text=a', 201],
    ] as const) {
      const { status, members } = await post(gateway, path, new URLSearchParams(body));
      assert.equal(status, expected, path);
      if (status === 400) assert.match(String(members['detail']), /"idempotency-key" must be one/);
    }
    const query = 'text=a&idempotency-key=m&idempotency-key[]=n';
    const said = await fetch(`${gateway.url}/api/say/seeds?${query}`);
    assert.equal(said.status, 400);
    const headers = { Accept: 'text/html' };
    const page = '/api/seeds?page=/search&idempotency-key=k&idempotency-key=l';
    const body = new URLSearchParams({ text: 'a' });
    const written = await fetch(gateway.url + page, { method: 'POST', body, headers });
    assert.equal(written.status, 400);
  });

  test('of a page seeks nothing where its lines are empty', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const headers = { Accept: 'text/html' };
    for (const [lines, seeking] of [
      ['seeking=', []],
      ['seeking=&seeking=silence', ['silence']],
    ] as const) {
      const body = new URLSearchParams(`ai_identity=A&${lines}`);
      await fetch(`${gateway.url}/api/resonance?page=/`, { method: 'POST', body, headers });
      const answer = await fetch(`${gateway.url}/api/resonance?limit=1`);
      const { entries } = (await answer.json()) as { entries: Members[] };
      assert.deepEqual(entries[0]?.['seeking'], seeking);
    }
  });

  test('of many megabytes is stored whole', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const text = 'рядок\n'.repeat(1_000_000);
    const form = new FormData();
    form.append('text', new Blob([text]), 'poem.txt');
    const { status, members } = await post(gateway, '/api/seeds', form);
    assert.equal(status, 201);
    const answer = await fetch(`${gateway.url}/api/entries/${String(members['id'])}`);
    assert.equal(((await answer.json()) as Members)['text'], text);
  });

  test('that is refused leaves nothing', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const multipart = { 'Content-Type': 'multipart/form-data; boundary=b' };
    const start = '--b\r\nContent-Disposition: form-data; name=text\r\n\r\n';
    for (const text of ['x', 'x'.repeat(200_000)]) {
      const { status, members } = await post(gateway, '/api/seeds', start + text, multipart);
      assert.equal(status, 400);
      assert.equal(members['code'], 'invalid-parameter');
    }
    const { members } = await post(gateway, '/api/seeds', '{}');
    assert.equal(members['seq'], 1);
  });
});

const ENCODERS = {
  gzip: gzipSync,
  'X-GZIP': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  identity: (bytes: Buffer): Buffer => bytes,
} satisfies Record<string, (bytes: Buffer) => Buffer>;

const SPACE = Buffer.from(' ');

suite('a compressed body', () => {
  for (const [encoding, encode] of Object.entries(ENCODERS)) {
    test(`is decoded from ${encoding}, small, large and as a form`, async () => {
      await using gateway = await openGateway(openMemoryLog());
      const headers = { 'Content-Encoding': encoding };
      for (const text of ['hello', 'again '.repeat(1_000_000)]) {
        const body = encode(Buffer.from(JSON.stringify({ text })));
        const { status, members } = await post(gateway, '/api/seeds', body, headers);
        assert.equal(status, 201);
        const answer = await fetch(`${gateway.url}/api/entries/${String(members['id'])}`);
        assert.equal(((await answer.json()) as Members)['text'], text);
      }
      const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const form = await post(gateway, '/api/seeds', encode(Buffer.from('a=b')), {
        ...headers,
        ...type,
      });
      assert.equal(form.members['a'], 'b');
    });
  }

  const large = Buffer.from(JSON.stringify({ text: 'again '.repeat(100_000) }));
  const window = { params: { [constants.ZSTD_c_windowLog]: 24 } };
  for (const [fault, encoding, body] of [
    ['that is not compressed', 'gzip', Buffer.from(GARDEN_ENTRY)],
    ['that is cut off', 'gzip', gzipSync(GARDEN_ENTRY).subarray(0, -5)],
    ['that is large and cut off', 'br', brotliCompressSync(large).subarray(0, -1)],
    ['that is cut off', 'zstd', zstdCompressSync(large).subarray(0, -1)],
    ['with bytes after its end', 'deflate', Buffer.concat([deflateSync(large), large])],
    ['with bytes after its end', 'gzip', Buffer.concat([gzipSync('{}'), SPACE])],
    [
      'with a piece of a member after its end',
      'gzip',
      Buffer.concat([gzipSync('{}'), gzipSync(' ').subarray(0, 1)]),
    ],
    ['with bytes after its end', 'zstd', Buffer.concat([zstdCompressSync('{}'), SPACE])],
    [
      'with a piece of a frame after its end',
      'zstd',
      Buffer.concat([zstdCompressSync('{}'), zstdCompressSync(' ').subarray(0, 3)]),
    ],
    [
      'with bytes between two frames',
      'zstd',
      Buffer.concat([zstdCompressSync('{}'), SPACE, zstdCompressSync(' ')]),
    ],
    ['in an unknown encoding', 'compress', large],
    ['in two encodings', 'gzip, br', large],
    ['with too large a window', 'zstd', zstdCompressSync(Buffer.alloc(2 ** 24, '1'), window)],
  ] as const) {
    test(`${fault} is refused by name, and leaves nothing (${encoding})`, async () => {
      await using gateway = await openGateway(openMemoryLog());
      const headers = { 'Content-Encoding': encoding };
      const { status, members } = await post(gateway, '/api/seeds', body, headers);
      assert.equal(status, 400);
      assert.equal(members['code'], 'invalid-parameter');
      assert.match(JSON.stringify(members['faults']), /"parameter":"Content-Encoding"/);
      assert.deepEqual(members['known'], ['gzip', 'deflate', 'br', 'zstd']);
      assert.equal((await post(gateway, '/api/seeds', '{}')).members['seq'], 1);
      assert.deepEqual(gateway.reported, []);
    });
  }

  test('is decoded whole from several members of gzip', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const body = Buffer.concat([gzipSync('{"a":'), gzipSync('1}'), gzipSync('')]);
    const headers = { 'Content-Encoding': 'gzip' };
    assert.equal((await post(gateway, '/api/seeds', body, headers)).members['a'], 1);
  });

  test('that is refused leaves the connection to the next request', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await using caller = await gateway.connect();
    const body = gzipSync(Buffer.from(`{"a":}${'x'.repeat(500_000)}`));
    const head = `POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n`;
    caller.send(`${head}Content-Encoding: gzip\r\n\r\n`);
    caller.send(body);
    caller.send('POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}');
    assert.deepEqual(statusesIn(await caller.until(/"seq":1/)), [400, 201]);
  });

  test('is cut off when its caller leaves', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const size of [10, 100]) {
      await using caller = await gateway.connect();
      const body = gzipSync(JSON.stringify({ text: 'x'.repeat(1_000_000) })).subarray(0, size);
      caller.send('POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n');
      caller.send(Buffer.concat([Buffer.from('Content-Encoding: gzip\r\n\r\n'), body]));
      await pause(50);
      caller.socket.resetAndDestroy();
    }
    await pause(50);
    assert.equal((await post(gateway, '/api/seeds', '{}')).members['seq'], 1);
    assert.deepEqual(gateway.reported, []);
  });

  test('is read by MCP and A2A as well, and refused in their form', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const json = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const accept = { Accept: 'application/json, text/event-stream' };
    const listed = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: { ...json, ...accept },
      body: gzipSync(JSON.stringify(call)),
    });
    assert.match(await listed.text(), /first_contact/);
    const broken = await post(gateway, '/mcp', 'x', json);
    assert.equal(broken.status, 400);
    assert.match(JSON.stringify(broken.members['error']), /-32600.*Content-Encoding/);
    const message = await post(gateway, '/a2a', 'x', json);
    assert.match(JSON.stringify(message.members['error']), /Content-Encoding/);
  });
});
