import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';

import { startGateway } from '@open-presence/gateway';
import { pino } from 'pino';

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

suite('presence verify', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'presence-'));
    const logger = pino({ level: 'silent' });
    const place = { host: '127.0.0.1', port: 0, data: folder, language: undefined };
    await using gateway = await startGateway({ ...place, threads: 1, logger });
    for (const text of ['first', 'second', 'third']) {
      const body = JSON.stringify({ text });
      const answer = await fetch(`${gateway.address}/api/seeds`, { method: 'POST', body });
      assert.equal(answer.status, 201);
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('reports an intact log', async () => {
    const { code, stdout, stderr } = await presence('verify', '--data', folder);
    assert.match(stdout, /^3 entries, \d+ bytes, unbroken\. Last link [\da-f]{64}\n$/);
    assert.deepEqual([code, stderr], [0, '']);
    const json = await presence('verify', '--data', folder, '--json');
    const { faults, name, entries, bytes, link } = JSON.parse(json.stdout) as Record<
      string,
      unknown
    >;
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
