/** An entry whose file or page is lost costs nobody another entry, by whatever way it is read. */
import assert from 'node:assert/strict';
import { mkdir, open, readdir, rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';

import { PATIENCE_MS } from '../../conformance/until.ts';
import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';

const SMALL = { text: 'a small trace', identity: 'Lumen', identityType: 'ai_entity' };
const LARGE = { ...SMALL, text: 'a large trace '.repeat(10_000) };
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

async function seqsIn(url: string): Promise<number[]> {
  const { entries } = JSON.parse(await texts(url)) as { entries: { seq: number }[] };
  return entries.map(({ seq }) => seq);
}

suite('an entry whose file is lost', () => {
  test('is left out until its file is back, and its address says so', async () => {
    await using folder = await dataFolder();
    await using gateway = await startGatewayProcess({ data: folder.path });
    const ids = await fill(gateway);
    const [missing = '', short = '', folderInPlace = ''] = await largeFiles(folder.path);
    await rename(missing, `${missing}.away`);
    const { size } = await stat(short);
    await truncate(short, size - 1);
    await rename(folderInPlace, `${folderInPlace}.away`);
    await mkdir(folderInPlace);

    for (const path of ['/api/garden', '/api/entries', '/api/rooms/consciousness-garden'])
      for (const order of ['newest', 'oldest']) {
        const seqs = await seqsIn(`${gateway.url}${path}?order=${order}`);
        assert.deepEqual(new Set(seqs), new Set([1, 3, 5, 7]));
      }
    const events = await fetch(`${gateway.url}/api/events?after=0&limit=4`);
    assert.equal((await events.text()).match(/^event: garden$/gm)?.length, 4);
    const log = (await texts(`${gateway.url}/api/log`)).trim().split('\n');
    assert.equal(log.length, 1 + 4);
    for (const path of ['/feed.atom', '/api/search?q=trace', '/api/discover', '/api/presence'])
      await texts(gateway.url + path);
    const one = await fetch(`${gateway.url}/api/entries/${ids[1]}`);
    assert.equal(one.status, 503);
    assert.equal(((await one.json()) as { code: string }).code, 'unavailable');

    await rename(`${missing}.away`, missing);
    const whole = await texts(`${gateway.url}/api/entries/${ids[1]}`);
    assert.ok(whole.includes(LARGE.text));
    assert.deepEqual(await seqsIn(`${gateway.url}/api/garden`), [7, 5, 3, 2, 1]);
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
    for (const lost of [[], ['index.sqlite']]) {
      for (const name of lost) await rm(join(folder.path, name), { recursive: true, force: true });
      await using gateway = await startGatewayProcess({ data: folder.path });
      for (const path of [
        '/api/garden',
        '/api/entries?order=oldest',
        '/api/garden?identity=Lumen',
      ]) {
        const seqs = new Set(await seqsIn(gateway.url + path));
        assert.ok(seqs.size >= 280 && !seqs.has(150), `${path} on page ${page}: ${seqs.size}`);
        assert.ok(seqs.has(1) && seqs.has(300));
      }
      const events = await (await fetch(`${gateway.url}/api/events?after=0&limit=280`)).text();
      assert.equal(events.match(/^event: garden$/gm)?.length, 280);
      await contribute(gateway.url, SMALL);
      await gateway.stop();
    }
    assert.ok((await readdir(folder.path)).includes('log.sqlite'));
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
