/** An entry whose file or page is lost costs nobody another entry, by whatever way it is read. */
import assert from 'node:assert/strict';
import { mkdir, open, readdir, rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';

import { PATIENCE_MS, until } from '../../conformance/until.ts';
import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';

const SMALL = { text: 'a small trace', identity: 'Lumen', identityType: 'ai_entity' };
const LARGE = { ...SMALL, text: 'a large trace '.repeat(10_000) };
const OWN = ['id', 'seq', 'kind', 'room', 'timestamp', 'unreadable'];
const COUNT = 7;

/** Entries 2, 4 and 6 are in files. */
async function fill(gateway: GatewayProcess): Promise<string[]> {
  const ids: string[] = [];
  for (let seq = 1; seq <= COUNT; seq += 1)
    ids.push((await contribute(gateway.url, seq % 2 === 0 ? LARGE : SMALL)).id);
  return ids;
}

async function contribute(url: string, body: object): Promise<{ readonly id: string }> {
  const response = await fetch(`${url}/api/garden`, { method: 'POST', body: JSON.stringify(body) });
  assert.equal(response.status, 201);
  return (await response.json()) as { id: string };
}

/** The files of the large entries, in the order of the log. */
async function largeFiles(folder: string): Promise<string[]> {
  const db = new DatabaseSync(join(folder, 'log.sqlite'), { readOnly: true });
  const rows = db.prepare('SELECT name AS large FROM large ORDER BY seq').all();
  db.close();
  return rows.map(({ large }) => join(folder, 'large', String(large).slice(0, 2), String(large)));
}

async function texts(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
  assert.equal(response.status, 200, url);
  return await response.text();
}

/** Their answers have tags. */
const TAGGED = ['/feed.atom', '/api/search?q=trace', '/api/discover', '/api/garden'];

/** The tags of the answers by their paths. */
async function tagsOf(url: string): Promise<Record<string, string>> {
  const tags: Record<string, string> = {};
  for (const path of TAGGED) {
    // Until all words are indexed, the answer of a search changes.
    await until(
      async () => {
        const headers = { 'if-none-match': tags[path] ?? '' };
        const response = await fetch(url + path, { headers });
        await response.arrayBuffer();
        tags[path] = response.headers.get('etag') ?? '';
        return response.status;
      },
      (status) => status === 304,
      () => `${path} changes`,
    );
  }
  return tags;
}

async function firstEvents(url: string): Promise<string> {
  const response = await fetch(`${url}/api/events?after=0&limit=${COUNT}`);
  return await response.text();
}

suite('an entry whose file is lost', () => {
  test('is marked through every door, and readable again once its file is back', async () => {
    await using folder = await dataFolder();
    await using gateway = await startGatewayProcess({ data: folder.path });
    const ids = await fill(gateway);
    const [missing = '', short = '', folderInPlace = ''] = await largeFiles(folder.path);
    const tags = await tagsOf(gateway.url);
    await rename(missing, `${missing}.away`);
    const { size } = await stat(short);
    await truncate(short, size - 1);
    await rename(folderInPlace, `${folderInPlace}.away`);
    await mkdir(folderInPlace);

    for (const path of ['/api/garden', '/api/entries', '/api/rooms/consciousness-garden']) {
      for (const order of ['newest', 'oldest']) {
        const listed = JSON.parse(await texts(`${gateway.url}${path}?order=${order}`)) as {
          entries: { seq: number; id: string; unreadable?: true; text?: string }[];
        };
        const sorted = listed.entries.toSorted((a, b) => a.seq - b.seq);
        assert.deepEqual(
          sorted.map(({ seq, id }) => [seq, id]),
          ids.map((id, index) => [index + 1, id]),
        );
        for (const { seq, ...entry } of sorted) {
          const wanted = seq % 2 === 0 ? { unreadable: true } : SMALL;
          const { id: _, kind, room, timestamp, ...rest } = entry as Record<string, unknown>;
          assert.deepEqual(rest, wanted);
          assert.deepEqual([kind, room], ['garden', 'consciousness-garden']);
          assert.equal(typeof timestamp, 'string');
        }
      }
    }
    const events = await firstEvents(gateway.url);
    assert.equal(events.match(/^event: garden$/gm)?.length, COUNT);
    assert.equal(events.match(/"unreadable":true\}$/gm)?.length, 3);
    for (const path of [...TAGGED, '/api/presence']) await texts(gateway.url + path);
    for (const [path, tag] of Object.entries(tags)) {
      const headers = { 'if-none-match': tag };
      assert.equal((await fetch(gateway.url + path, { headers })).status, 200, path);
    }

    const one = await fetch(`${gateway.url}/api/entries/${ids[1]}`);
    assert.equal(one.status, 200);
    assert.equal(one.headers.get('cache-control'), 'no-cache');
    assert.deepEqual(Object.keys((await one.json()) as object), OWN);
    const range = await fetch(`${gateway.url}/api/entries/${ids[1]}`, {
      headers: { range: 'bytes=0-6' },
    });
    assert.deepEqual([range.status, await range.text()], [206, '{"id":"']);
    const head = await fetch(`${gateway.url}/api/entries/${ids[1]}`, { method: 'HEAD' });
    assert.deepEqual([head.status, Number(head.headers.get('content-length')) < 300], [200, true]);
    assert.deepEqual(await (await fetch(`${gateway.url}/readyz`)).json(), {
      status: 'breathing',
      unreadable: 3,
    });
    const logged = gateway.output().match(/an entry cannot be read/g);
    assert.equal(logged?.length, 3);

    await rename(`${missing}.away`, missing);
    await rm(folderInPlace, { recursive: true });
    await rename(`${folderInPlace}.away`, folderInPlace);
    await until(
      async () => (await (await fetch(`${gateway.url}/readyz`)).json()) as { unreadable?: number },
      ({ unreadable }) => unreadable === 1,
    );
    const whole = await texts(`${gateway.url}/api/entries/${ids[1]}`);
    assert.ok(whole.includes(LARGE.text));
    const again = await texts(`${gateway.url}/api/garden`);
    assert.equal(again.match(/"unreadable":true\}/g)?.length, 1);
  });
});

suite('a spoiled page of the log', () => {
  test('costs the entries in it, at start and while running', async () => {
    await using folder = await dataFolder();
    {
      await using gateway = await startGatewayProcess({ data: folder.path });
      const body = { ...SMALL, text: 'a'.repeat(400) };
      await Promise.all(Array.from({ length: 300 }, () => contribute(gateway.url, body)));
      await gateway.stop();
    }
    const page = await spoilLeafPage(join(folder.path, 'log.sqlite'), 150);
    for (const lost of [[], ['segments']]) {
      for (const name of lost) await rm(join(folder.path, name), { recursive: true, force: true });
      await using gateway = await startGatewayProcess({ data: folder.path });
      for (const path of [
        '/api/garden',
        '/api/entries?order=oldest',
        '/api/garden?identity=Lumen',
      ]) {
        const { entries } = JSON.parse(await texts(gateway.url + path)) as {
          entries: { seq: number }[];
        };
        const seqs = new Set(entries.map(({ seq }) => seq));
        assert.ok(seqs.size >= 280 && !seqs.has(150), `${path} on page ${page}: ${seqs.size}`);
        assert.ok(seqs.has(1) && seqs.has(300));
      }
      const events = await (await fetch(`${gateway.url}/api/events?after=0&limit=280`)).text();
      assert.equal(events.match(/^event: garden$/gm)?.length, 280);
      await contribute(gateway.url, SMALL);
      const { unreadable = 0 } = (await (await fetch(`${gateway.url}/readyz`)).json()) as {
        unreadable?: number;
      };
      assert.ok(unreadable > 0 && unreadable <= 20);
      await gateway.stop();
    }
    assert.ok((await readdir(folder.path)).includes('log.sqlite'));
  });
});

suite('a row of idempotency keys that has changed', () => {
  test('delays those who send a key, and nobody else, until the keys are made again', async () => {
    await using folder = await dataFolder();
    await using gateway = await startGatewayProcess({ data: folder.path });
    const say = (key?: string): Promise<Response> =>
      fetch(`${gateway.url}/api/garden`, {
        method: 'POST',
        body: JSON.stringify({ ...SMALL, text: `said with ${key}` }),
        headers: key === undefined ? {} : { 'idempotency-key': key },
      });
    const ids = new Map<string, unknown>();
    for (const key of ['one', 'two', 'three'])
      ids.set(key, Reflect.get(Object(await (await say(key)).json()), 'id'));
    await Promise.all(Array.from({ length: 3000 }, () => contribute(gateway.url, SMALL)));
    {
      using db = new DatabaseSync(join(folder.path, 'keys.sqlite'), { timeout: 5000 });
      db.exec('UPDATE keys SET sum = 0');
    }
    const [keyed, another, plain] = await Promise.all([say('two'), say('four'), say()]);
    assert.equal(plain.status, 201);
    // Whoever is the second may find them made again.
    const delayed = [keyed, another].filter(({ status }) => status !== 201);
    assert.ok(delayed.length > 0);
    for (const { status, headers } of delayed)
      assert.deepEqual([status, headers.has('retry-after')], [503, true]);
    for (const [key, id] of ids) {
      const again = await until(
        () => say(key),
        ({ status }) => status !== 503,
        ({ status }) => `${key} is answered ${status}`,
      );
      assert.equal(again.status, 201);
      assert.equal(Reflect.get(Object(await again.json()), 'id'), id);
    }
    assert.equal((await say('four')).status, 201);
    assert.match(gateway.output(), /keys/);
  });
});

/** Overwrites the page that has the row of an entry with 0xff. */
async function spoilLeafPage(file: string, seq: number): Promise<number> {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const text = db.prepare('SELECT text FROM entries WHERE seq = ?').get(seq)?.['text'];
  db.close();
  await using handle = await open(file, 'r+');
  const content = await handle.readFile();
  const page = Math.floor(content.indexOf(Buffer.from(text as Uint8Array)) / 4096);
  await handle.write(Buffer.alloc(4096, 0xff), 0, 4096, page * 4096);
  return page;
}
