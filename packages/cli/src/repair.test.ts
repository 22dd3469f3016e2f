import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { startGateway, verifyLog } from '@open-presence/gateway';
import { pino } from 'pino';

import { changeEntry } from '../../gateway/src/stores/sqlite/log/changed-log.fixture.ts';

const MAIN = join(import.meta.dirname, 'main.ts');

interface Run {
  readonly code: number;
  readonly stdout: string;
}

function run(...args: readonly string[]): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>();
  const child = execFile(process.execPath, [MAIN, ...args], (_, stdout, stderr) =>
    resolve({ code: child.exitCode ?? -1, stdout: stdout + stderr }),
  );
  return promise;
}

function repair(data: string, from?: string): Promise<Run> {
  return run('repair', '--data', data, ...(from === undefined ? [] : ['--from', from]));
}

/** Stores three entries in files. Returns their paths, in the order of their seqs. */
async function fill(data: string): Promise<readonly string[]> {
  const files: string[] = [];
  const logger = pino({ level: 'silent' });
  const place = { listen: { host: '127.0.0.1', port: 0 }, data, language: undefined };
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

test('presence repair puts back the files that a copy has intact, and names the others', async () => {
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
  // An import has the same entries in files of other names.
  const [line, imported] = [join(folder, 'lines'), join(folder, 'imported')];
  await run('export', '--data', data, '--limit', '2', line);
  assert.equal((await run('import', '--data', imported, line)).code, 0);
  await rm(join(data, lost));
  assert.match((await repair(data, imported)).stdout, /^Entry 1: has lost its file; put back$/m);
  await rm(folder, { recursive: true, force: true });
});

test('presence repair makes idempotency keys find their entries again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'presence-'));
  const logger = pino({ level: 'silent' });
  const place = { listen: { host: '127.0.0.1', port: 0 }, data: folder, language: undefined };
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
  const db = new DatabaseSync(join(folder, 'keys.sqlite'));
  // Keeps the row that says up to which entry the keys are there.
  db.exec('DELETE FROM keys WHERE prefix < (SELECT max(prefix) FROM keys)');
  db.close();
  const { code, stdout } = await repair(folder);
  for (const seq of [1, 2, 3])
    assert.ok(stdout.includes(`Entry ${seq}: is not found by its idempotency key; put back\n`));
  assert.equal(code, 0);
  assert.match((await repair(folder)).stdout, /^0 put back, 0 not\.$/m);
  assert.deepEqual(await postAll(), [1, 2, 3]);
  await rm(folder, { recursive: true, force: true });
});

/** Sixty small entries, every third with a key, and a large one of this letter. */
async function fillSmall(data: string, letter = 'x'): Promise<void> {
  const logger = pino({ level: 'silent' });
  const place = { listen: { host: '127.0.0.1', port: 0 }, data, language: undefined };
  await using gateway = await startGateway({ ...place, threads: 1, logger });
  for (let at = 1; at <= 61; at += 1) {
    const body = JSON.stringify({ text: at === 30 ? letter.repeat(100_000) : `мить ${at}` });
    const headers: Record<string, string> = at % 3 === 0 ? { 'idempotency-key': `${at}` } : {};
    await fetch(`${gateway.address}/api/seeds`, { method: 'POST', headers, body });
  }
}

/** Changes a text, a link, a key, facets and flags, spoils three rows, and removes others and a file. */
async function spoil(data: string): Promise<void> {
  const db = new DatabaseSync(join(data, 'log.sqlite'));
  changeEntry(db, 5, ({ text: [text] }) => ({
    text: [Buffer.from(text.toString().replace('мить', 'шум.'))],
  }));
  changeEntry(db, 12, () => ({ link: Buffer.alloc(32) }));
  changeEntry(db, 21, () => ({ key: Buffer.alloc(48) }));
  db.exec(`UPDATE entries SET facets = zeroblob(octet_length(facets)) WHERE seq = 25;
    UPDATE entries SET flags = flags + 8 WHERE seq = 26;
    UPDATE entries SET link = x'' WHERE seq = 40;
    UPDATE entries SET text = zeroblob(octet_length(text)), salt = x'' WHERE seq = 41;
    UPDATE entries SET flags = 255 WHERE seq = 42;
    DELETE FROM entries WHERE seq IN (50, 51, 52, 58)`);
  db.close();
  const names = await readdir(join(data, 'large'), { recursive: true });
  for (const name of names.filter((each) => each.length > 36))
    await truncate(join(data, 'large', name), 10);
}

async function faultsOf(data: string): Promise<string[]> {
  const faults: string[] = [];
  for await (const event of verifyLog(data))
    if (event.type === 'fault') faults.push(`${event.seq} ${event.description}`);
  return faults;
}

test('presence repair puts changed and lost entries back from a backup or an import', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'presence-'));
  const at = (name: string): string => join(folder, name);
  await fillSmall(at('good'));
  await run('export', '--data', at('good'), at('log.ndjson.gz'));
  await run('import', '--data', at('imported'), at('log.ndjson.gz'));
  const exported = await run('export', '--data', at('good'));
  for (const from of [at('good'), at('imported')]) {
    await rm(at('copy'), { recursive: true, force: true });
    await cp(at('good'), at('copy'), { recursive: true });
    await spoil(at('copy'));
    assert.notEqual((await faultsOf(at('copy'))).length, 0);
    const { code, stdout } = await repair(at('copy'), from);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^Entry 5: is not what its link was made of.*; put back$/m);
    assert.deepEqual(await faultsOf(at('copy')), []);
    assert.equal((await run('export', '--data', at('copy'))).stdout, exported.stdout);
  }
  await rm(folder, { recursive: true, force: true });
});

test('presence repair takes no entry that the chain does not go on from', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'presence-'));
  const at = (name: string): string => join(folder, name);
  await fillSmall(at('origin'));
  await fillSmall(at('other'), 'y');
  await cp(at('origin'), at('copy'), { recursive: true });
  await spoil(at('copy'));
  const before = await faultsOf(at('copy'));
  const { code, stdout } = await repair(at('copy'), at('other'));
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^Entry 5: .*; not put back: it does not follow from the entry before there$/m,
  );
  // Keys are repaired from the entries here, so their faults are gone.
  const entries = (faults: readonly string[]): string[] =>
    faults.filter((fault) => !fault.includes('idempotency'));
  assert.deepEqual(entries(await faultsOf(at('copy'))), entries(before));
  await rm(folder, { recursive: true, force: true });
});

async function withhold(data: string, seq: number, reason: string): Promise<void> {
  const place = ['--after', String(seq - 1), '--before', String(seq + 1)];
  const { code, stdout } = await run(
    'withhold',
    '--data',
    data,
    ...place,
    '--reason',
    reason,
    '--yes',
  );
  assert.equal(code, 0, stdout);
}

test('presence repair withholds what its source has withheld, and brings back nothing withheld here', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'presence-'));
  const at = (name: string): string => join(folder, name);
  await fillSmall(at('origin'));
  await cp(at('origin'), at('copy'), { recursive: true });
  // In the copy, `spoil` changes entry 5, the file of entry 30 and the record of entry 12.
  for (const seq of [5, 30]) await withhold(at('origin'), seq, 'there');
  await withhold(at('copy'), 12, 'here');
  await spoil(at('copy'));
  const { code, stdout } = await repair(at('copy'), at('origin'));
  assert.equal(code, 0, stdout);
  const logger = pino({ level: 'silent' });
  const place = { listen: { host: '127.0.0.1', port: 0 }, data: at('copy'), language: undefined };
  {
    await using gateway = await startGateway({ ...place, threads: 1, logger });
    const read = async (path: string): Promise<string> =>
      await (await fetch(gateway.address + path)).text();
    const reasons = new Map([
      [5, 'there'],
      [12, 'here'],
      [30, 'there'],
    ]);
    for (const [seq, reason] of reasons) {
      const text = await read(`/api/entries?after=${seq - 1}&before=${seq + 1}`);
      assert.ok(text.includes(`"reason":"${reason}"`), text);
      assert.ok(!text.includes('"text"'), text);
    }
    assert.equal((await read('/api/withheld')).match(/"reason"/g)?.length, reasons.size);
  }
  assert.deepEqual(await faultsOf(at('copy')), []);
  await rm(folder, { recursive: true, force: true });
});
