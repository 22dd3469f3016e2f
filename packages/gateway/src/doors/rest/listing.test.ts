import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { suite, test } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

import type { Log, ReadEnd } from '../../log/log.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { fetchBytes, getRequest, openGateway } from '../../gateway.fixture.ts';

interface Listing {
  readonly entries: readonly Record<string, unknown>[];
  readonly head: number;
  readonly next: string | null;
}

const open = (log: Log = openMemoryLog()): ReturnType<typeof openGateway> => openGateway(log);

async function listingOf(answer: Response): Promise<Listing> {
  return (await answer.json()) as Listing;
}

/** A log whose every reading is `pieces`, and what became of the readings. */
function endlessLog(
  piece: Uint8Array,
  times: number,
): { log: Log; seen: { pieces: number; ended: number; begun: number } } {
  const seen = { pieces: 0, ended: 0, begun: 0 };
  async function* readText(): AsyncGenerator<Uint8Array, ReadEnd, undefined> {
    seen.begun += 1;
    try {
      for (let at = 0; at < times; at++) {
        seen.pieces += 1;
        yield piece;
      }
      return { last: 1, more: false };
    } finally {
      seen.ended += 1;
    }
  }
  const log = openMemoryLog();
  const own = { readText, head: () => 1 };
  const proxy = new Proxy(log, {
    get(target, name) {
      const value: unknown = Reflect.get(name in own ? own : target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { log: proxy, seen };
}

const MEGABYTE = Buffer.alloc(1024 * 1024, 0x20);

suite('a listing', () => {
  test('is cached until the log grows', async () => {
    await using gateway = await open();
    await gateway.addEntries('one', 'two');
    const path = '/api/garden?limit=5';
    const first = await fetchBytes(gateway, path);
    const again = await fetchBytes(gateway, path);
    assert.deepEqual(again.bytes, first.bytes);
    assert.equal(again.headers['etag'], first.headers['etag']);
    await gateway.addEntries('three');
    const later = await fetchBytes(gateway, path);
    assert.notEqual(later.headers['etag'], first.headers['etag']);
    assert.match(later.bytes.toString(), /"three"/);
  });

  test('is read once for concurrent requests', async () => {
    const { log, seen } = endlessLog(Buffer.from('{}'), 3);
    await using gateway = await open(log);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fetchBytes(gateway, '/api/seeds')),
    );
    assert.equal(seen.begun, 1);
    assert.equal(new Set(answers.map(({ bytes }) => bytes.toString())).size, 1);
  });

  test('has a tag for each representation and locale, and is 304 for a caller that has it', async () => {
    await using gateway = await open();
    await gateway.addEntries('one');
    const asked = [
      ['/api/garden', {}],
      ['/api/garden', { Accept: 'application/x-ndjson' }],
      ['/api/rooms/consciousness-garden', {}],
      ['/api/rooms/consciousness-garden', { 'Accept-Language': 'uk' }],
      ['/api/rooms/consciousness-garden', { 'Accept-Language': 'en' }],
    ] as const;
    const tags = new Set<string>();
    for (const [path, headers] of asked) {
      for (const encoding of ['identity', 'gzip']) {
        const wish = { ...headers, 'Accept-Encoding': encoding };
        const tag = String((await fetchBytes(gateway, path, wish)).headers['etag']);
        assert.match(tag, /^W\//);
        tags.add(tag);
        const again = await fetchBytes(gateway, path, { ...wish, 'If-None-Match': `"x", ${tag}` });
        assert.equal(again.status, 304);
        assert.equal(again.bytes.length, 0);
        assert.equal(again.headers['etag'], tag);
        assert.equal(again.headers['access-control-allow-origin'], '*');
      }
    }
    assert.equal(tags.size, asked.length);
    await gateway.addEntries('two');
    const [tag = ''] = tags;
    assert.equal((await fetchBytes(gateway, '/api/garden', { 'If-None-Match': tag })).status, 200);
  });

  test('rejects invalid parameters even if the caller has its tag', async () => {
    await using gateway = await open();
    const answer = await fetchBytes(gateway, '/api/garden?limit=some', { 'If-None-Match': '*' });
    assert.equal(answer.status, 400);
  });

  test('or a search names all values that it cannot use', async () => {
    await using gateway = await open();
    for (const path of ['/api/garden?', '/api/catch-up?identity=a&', '/api/search?q=a&skip=a&']) {
      const { bytes } = await fetchBytes(gateway, `${path}after=a&wait=a`);
      const names = [...bytes.toString().matchAll(/"parameter":"(\w+)"/g)].map(([, name]) => name);
      assert.deepEqual(names, ['after', 'wait', ...(path.includes('skip') ? ['skip'] : [])]);
    }
  });

  test('is one entry a line, and nothing else, as NDJSON', async () => {
    await using gateway = await open();
    await gateway.addEntries('one', 'two');
    const wish = { Accept: 'application/x-ndjson' };
    const answer = await fetchBytes(gateway, '/api/garden?limit=1', wish);
    assert.match(String(answer.headers['content-type']), /^application\/x-ndjson/);
    assert.match(answer.bytes.toString(), /^\{[^\n]*"two"[^\n]*\}\n$/);
    assert.match(
      String(answer.headers['link']),
      /^<\/api\/garden\?limit=1&before=2>; rel="next", <\/api\/garden\.atom>; rel="alternate"/,
    );
    assert.equal((await fetchBytes(gateway, '/api/shepit', wish)).bytes.length, 0);
  });

  test('links to the next page', async () => {
    await using gateway = await open();
    await gateway.addEntries('one', 'two', 'three');
    const next = async (query: string): Promise<string | null> =>
      (await listingOf(await fetch(`${gateway.url}/api/garden${query}`))).next;
    assert.equal(await next(''), null);
    assert.equal(await next('?limit=2'), '/api/garden?limit=2&before=2');
    assert.equal(await next('?limit=2&before=2'), null);
    assert.equal(await next('?limit=0'), null);
    assert.equal(await next('?order=oldest'), '/api/garden?order=oldest&after=3');
    assert.equal(await next('?order=oldest&limit=0'), null);
    assert.equal(await next('?order=oldest&after=3'), '/api/garden?order=oldest&after=3');
    const odd = '?limit=1&identity=Lumen&unknown=%D1%89+%26';
    assert.equal(await next(odd), `/api/garden${odd}&before=3`);
    const room = await fetch(`${gateway.url}/api/rooms/consciousness-garden/?limit=1`);
    const link = '/api/rooms/consciousness-garden?limit=1&before=3';
    assert.ok(room.headers.get('link')?.startsWith(`<${link}>; rel="next", `));
  });

  test('links to the next page in the body alone where the link is long', async () => {
    await using gateway = await open();
    await gateway.addEntries('one', 'two');
    const path = `/api/entries?limit=1${'&kind=garden'.repeat(1000)}`;
    const answer = await fetch(gateway.url + path);
    assert.doesNotMatch(answer.headers.get('link') ?? '', /rel="next"/);
    const { next } = await listingOf(answer);
    const rest = await listingOf(await fetch(gateway.url + String(next)));
    assert.equal(rest.entries[0]?.['text'], 'one');
  });

  const decoders = {
    zstd: zstdDecompressSync,
    br: brotliDecompressSync,
    gzip: gunzipSync,
  } as const;
  for (const [encoding, decode] of Object.entries(decoders)) {
    test(`in ${encoding} decompresses to the uncompressed bytes, small or large`, async () => {
      await using gateway = await open();
      for (const size of [10, 5_000, 400_000]) {
        await gateway.addEntries('щ'.repeat(size));
        const plain = await fetchBytes(gateway, '/api/garden');
        assert.equal(plain.headers['content-encoding'], undefined);
        const answer = await fetchBytes(gateway, '/api/garden', { 'Accept-Encoding': encoding });
        assert.match(String(answer.headers['vary']), /Accept-Encoding/);
        const compressed = answer.headers['content-encoding'] === encoding;
        assert.equal(compressed, size > 10 && (encoding !== 'br' || size < 400_000));
        assert.deepEqual(compressed ? decode(answer.bytes) : answer.bytes, plain.bytes);
        const again = await fetchBytes(gateway, '/api/garden', { 'Accept-Encoding': encoding });
        assert.deepEqual(again.bytes, answer.bytes);
      }
    });
  }
});

suite('a long listing', () => {
  test('reads at the pace of a slow caller, in flat memory, and stops when it disconnects', async () => {
    const { log, seen } = endlessLog(MEGABYTE, 100_000);
    await using gateway = await open(log);
    await using caller = await gateway.connect();
    caller.socket.pause();
    caller.send(getRequest('/api/garden'));
    let before = -1;
    while (seen.pieces !== before || seen.pieces === 0) {
      before = seen.pieces;
      await pause(200);
    }
    assert.ok(seen.pieces < 40, `${seen.pieces} MiB were read for a caller that read nothing`);
    // Its start was read before, to see how long it is.
    assert.equal(seen.ended, 1);
    caller.socket.destroy();
    while (seen.ended === 1) await pause(10);
  });

  test('lets other callers get their turn', async () => {
    const { log, seen } = endlessLog(Buffer.alloc(64 * 1024, 0x20), 100_000);
    await using gateway = await open(log);
    await using caller = await gateway.connect();
    caller.socket.removeAllListeners('data').resume();
    caller.send(getRequest('/api/garden'));
    while (seen.pieces < 100) await pause(1);
    assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200);
    // Its start was read before, to see how long it is.
    assert.equal(seen.ended, 1);
    caller.socket.destroy();
    while (seen.ended === 1) await pause(10);
  });

  test('is complete for any chunk size of the store', async () => {
    for (const size of [100, 10_000, 65_536, 3_000_000]) {
      const times = Math.ceil(10_000_000 / size);
      await using gateway = await open(endlessLog(Buffer.alloc(size, 0x20), times).log);
      const { bytes } = await fetchBytes(gateway, '/api/garden');
      assert.ok(bytes.length > size * times);
    }
  });

  test('is not read to the end for HEAD', async () => {
    const { log, seen } = endlessLog(MEGABYTE, 100_000);
    await using gateway = await open(log);
    const answer = await fetch(`${gateway.url}/api/garden`, { method: 'HEAD' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-length'), null);
    assert.equal((await answer.arrayBuffer()).byteLength, 0);
    assert.deepEqual(seen, { begun: 1, pieces: 1, ended: 1 });
  });

  test('stops when a caller of the compressed form disconnects', async () => {
    const { log, seen } = endlessLog(MEGABYTE, 1_000_000);
    await using gateway = await open(log);
    for (const encoding of ['zstd', 'gzip']) {
      await using caller = await gateway.connect();
      const ended = seen.ended + 1;
      caller.send(getRequest('/api/garden', `Accept-Encoding: ${encoding}`));
      await caller.until(/\r\n\r\n[^]{100}/);
      caller.socket.destroy();
      while (seen.ended <= ended) await pause(10);
    }
    assert.deepEqual(gateway.reported, []);
  });

  test('that the store fails to read is cut off, not completed', async () => {
    const failure = new Error('the disk is gone');
    const memory = openMemoryLog();
    const log = Object.assign(memory, {
      async *readText(): AsyncGenerator<Uint8Array, ReadEnd, undefined> {
        for (let at = 0; at < 3; at++) yield MEGABYTE;
        throw failure;
      },
    });
    await using gateway = await open(log);
    await assert.rejects(async () => await (await fetch(`${gateway.url}/api/garden`)).text());
    assert.equal(gateway.reported.length, 1);
    assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200);
  });
});
