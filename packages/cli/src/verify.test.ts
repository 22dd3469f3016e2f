import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';

import { type Gateway, startGateway } from '@open-presence/gateway';
import { pino } from 'pino';

import { until } from '../../../conformance/until.ts';

const MAIN = join(import.meta.dirname, 'main.ts');

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function presence(...args: readonly string[]): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>();
  const child = execFile(process.execPath, [MAIN, ...args], (_, stdout, stderr) =>
    resolve({ code: child.exitCode ?? -1, stdout, stderr }),
  );
  return promise;
}

async function start(data: string): Promise<Gateway> {
  const logger = pino({ level: 'silent' });
  const place = { listen: { host: '127.0.0.1', port: 0 }, data, language: undefined };
  return await startGateway({ ...place, threads: 1, logger });
}

async function post({ address }: Gateway, text: string): Promise<void> {
  const body = JSON.stringify({ text });
  const answer = await fetch(`${address}/api/seeds`, { method: 'POST', body });
  assert.equal(answer.status, 201);
}

suite('presence verify', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'presence-'));
    await using gateway = await start(folder);
    for (const text of ['first', 'second', 'third']) await post(gateway, text);
    // Otherwise, the index may know an entry that a test removes, and none after it.
    await until(
      async () => await (await fetch(`${gateway.address}/api/search?q=third`)).text(),
      (found) => found.includes('"text":"third"'),
      (found) => found,
    );
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('reports an intact log', async () => {
    const { code, stdout, stderr } = await presence('verify', '--data', folder);
    assert.match(stdout, /^3 entries, \d+ bytes, unbroken\. Last link [\da-f]{64}\n$/);
    assert.deepEqual([code, stderr], [0, '']);
    const json = await presence('verify', '--data', folder, '--json');
    const report = JSON.parse(json.stdout) as Record<string, unknown>;
    const { faults, name, entries, bytes, link } = report;
    assert.deepEqual([json.code, faults, entries], [0, [], 3]);
    assert.match(String(name), /^[\da-f]{16}$/);
    assert.ok(stdout.includes(String(bytes)) && stdout.includes(String(link)));
  });

  test('reports the faults of a log', async () => {
    const db = new DatabaseSync(join(folder, 'log.sqlite'));
    db.exec('UPDATE entries SET time = time + 1 WHERE seq = 2; DELETE FROM entries WHERE seq = 1');
    db.close();
    const { code, stdout, stderr } = await presence('verify', '--data', folder);
    const lines = stdout.split('\n');
    assert.equal(lines[0], 'Entry 1: is missing');
    assert.match(lines[1] ?? '', /^Entry 2: has other own members/);
    assert.match(lines[2] ?? '', /^2 entries, \d+ bytes, 2 faults\. Last link [\da-f]{64}$/);
    assert.deepEqual([code, stderr], [1, '']);
    const json = await presence('verify', '--data', folder, '--json');
    const { faults } = JSON.parse(json.stdout) as { faults: readonly { seq: number }[] };
    assert.deepEqual([json.code, faults.map(({ seq }) => seq)], [1, [1, 2]]);
  });

  test('reports why it cannot read', async () => {
    const { code, stdout, stderr } = await presence('verify', '--data', join(folder, 'nowhere'));
    assert.match(stderr, /^Cannot verify the log in ".*nowhere": There is no log in ".*"\.\n$/);
    assert.deepEqual([code, stdout], [2, '']);
  });
});

suite('presence verify of derived files', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'presence-'));
    {
      await using gateway = await start(folder);
      for (let count = 0; count < 20; count += 1) await post(gateway, 'moss '.repeat(12_000));
      // Answered once the words are indexed.
      const found = await fetch(`${gateway.address}/api/seeds?q=moss&limit=1`);
      assert.match(await found.text(), /moss/);
      const { code, stdout } = await presence('verify', '--data', folder);
      assert.match(stdout, /^20 entries, 1\.2 MB, unbroken\. Last link [\da-f]{64}\n$/);
      assert.equal(code, 0);
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('tells of each part of the index that has changed, and how it is made again', async () => {
    const file = join(folder, 'index.sqlite');
    const bytes = await readFile(file);
    {
      using index = new DatabaseSync(file);
      const remove = index.prepare('DELETE FROM texts_0 WHERE rowid = CAST(? AS INTEGER)');
      remove.setReadBigInts(true);
      remove.run(7);
    }
    const text = await presence('verify', '--data', folder);
    const json = await presence('verify', '--data', folder, '--json');
    await writeFile(file, bytes);
    const what = 'has other words, filters or counts than the entries 1 to 262144';
    assert.match(text.stdout, /^20 entries, 1\.2 MB, unbroken\./);
    assert.match(text.stdout, new RegExp(`^index\\.sqlite: ${what}; remove it`, 'm'));
    assert.deepEqual([text.code, json.code, text.stderr], [3, 3, '']);
    const { faults, derived } = JSON.parse(json.stdout) as Record<string, readonly unknown[]>;
    assert.deepEqual([faults, derived], [[], [{ file: 'index.sqlite', what }]]);
  });

  test('does not name missing files', async () => {
    await rm(join(folder, 'index.sqlite'));
    const { code, stdout } = await presence('verify', '--data', folder);
    assert.deepEqual([code, stdout.split('\n').length], [0, 2]);
  });
});
