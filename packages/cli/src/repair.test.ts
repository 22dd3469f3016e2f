import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { startGateway } from '@open-presence/gateway';
import { pino } from 'pino';

const MAIN = join(import.meta.dirname, 'main.ts');

interface Run {
  readonly code: number;
  readonly stdout: string;
}

function repair(data: string, from?: string): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>();
  const args = [MAIN, 'repair', '--data', data];
  if (from !== undefined) args.push('--from', from);
  const child = execFile(process.execPath, args, (_, stdout, stderr) =>
    resolve({ code: child.exitCode ?? -1, stdout: stdout + stderr }),
  );
  return promise;
}

/** Three entries in files, and their paths by seq. */
async function fill(data: string): Promise<readonly string[]> {
  const files: string[] = [];
  const logger = pino({ level: 'silent' });
  const place = { host: '127.0.0.1', port: 0, data, language: undefined };
  await using gateway = await startGateway({ ...place, threads: 1, logger });
  for (const letter of ['a', 'b', 'c']) {
    const body = JSON.stringify({ text: letter.repeat(100_000) });
    const answer = await fetch(`${gateway.address}/api/seeds`, { method: 'POST', body });
    assert.equal(answer.status, 201);
    const names = await readdir(join(data, 'large'), { recursive: true });
    const stored = names.filter((name) => name.length > 36 && !name.includes('.'));
    files.push(...stored.filter((name) => !files.includes(name)));
  }
  return files.map((name) => join('large', name));
}

test('presence repair puts back the files that a copy has, and says which it does not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'presence-'));
  const [data, copy] = [join(folder, 'data'), join(folder, 'copy')];
  const [lost = '', shortened = '', changed = ''] = await fill(data);
  await cp(data, copy, { recursive: true });
  await rm(join(data, lost));
  await truncate(join(data, shortened), 70_000);
  for (const where of [data, copy]) {
    const bytes = await readFile(join(where, changed));
    bytes[50_000] = 0x21;
    await writeFile(join(where, changed), bytes);
  }
  const { code, stdout } = await repair(data, copy);
  assert.match(stdout, /^Entry 1: has lost its file; put back$/m);
  assert.match(stdout, /^Entry 2: has \d+ bytes, not \d+; put back$/m);
  assert.match(stdout, /^Entry 3: .*; not put back: in ".*" it is not what its link/m);
  assert.match(stdout, /^2 put back, 1 not\.$/m);
  assert.equal(code, 1);
  for (const file of [lost, shortened])
    assert.deepEqual(await readFile(join(data, file)), await readFile(join(copy, file)));
  assert.equal((await repair(data, folder)).code, 1);
  await rm(folder, { recursive: true, force: true });
});

test('presence repair makes idempotency keys find their entries again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'presence-'));
  const logger = pino({ level: 'silent' });
  const place = { host: '127.0.0.1', port: 0, data: folder, language: undefined };
  const postAll = async (): Promise<number[]> => {
    await using gateway = await startGateway({ ...place, threads: 1, logger });
    const seqs: number[] = [];
    for (const text of ['one', 'two', 'three']) {
      const headers = { 'idempotency-key': text };
      const body = JSON.stringify({ text });
      const answer = await fetch(`${gateway.address}/api/seeds`, { method: 'POST', headers, body });
      seqs.push(Number(Reflect.get(Object(await answer.json()), 'seq')));
    }
    return seqs;
  };
  assert.deepEqual(await postAll(), [1, 2, 3]);
  const db = new DatabaseSync(join(folder, 'log.sqlite'));
  db.exec(`UPDATE keys SET key = CAST(x'ff' || substr(key, 2) AS BLOB) WHERE seq = 1;
    UPDATE keys SET seq = 1 WHERE seq = 2; DELETE FROM keys WHERE seq = 3`);
  db.close();
  const { code, stdout } = await repair(folder);
  assert.match(stdout, /^Entry 1: is not found by its idempotency key; put back$/m);
  assert.match(stdout, /^Entry 2: has an idempotency key that leads to entry 1; put back$/m);
  assert.equal(code, 0);
  assert.match((await repair(folder)).stdout, /^0 put back, 0 not\.$/m);
  assert.deepEqual(await postAll(), [1, 2, 3]);
  await rm(folder, { recursive: true, force: true });
});
