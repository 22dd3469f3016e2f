import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { lstat, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import { Gateway } from '@open-presence/client';
import { startGateway, verifyLog } from '@open-presence/gateway';
import { pino } from 'pino';

const MAIN = join(import.meta.dirname, '..', 'main.ts');
const LOGGER = pino({ level: 'silent' });
const SMALL = 400;

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function presence(...args: readonly string[]): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>();
  const child = execFile(
    process.execPath,
    [MAIN, ...args],
    { maxBuffer: Infinity },
    (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
  );
  return promise;
}

function gatewayOn(data: string): ReturnType<typeof startGateway> {
  const place = { listen: { host: '127.0.0.1', port: 0 }, data, language: undefined };
  return startGateway({ ...place, threads: 1, logger: LOGGER });
}

/** Small entries with and without keys, long ones, and one with many facets. */
async function fill(data: string): Promise<void> {
  await using gateway = await gatewayOn(data);
  const post = (kind: string, members: object, key?: string): Promise<Response> =>
    fetch(`${gateway.address}/api/${kind}`, {
      method: 'POST',
      headers: key === undefined ? {} : { 'Idempotency-Key': key },
      body: JSON.stringify(members),
    });
  const lines = Array.from({ length: SMALL }, (_, at) =>
    JSON.stringify({ text: `мить ${at}`, identity: `visitor ${at % 7}`, identityType: 'human' }),
  );
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const body = lines.join('\n');
  const answer = await fetch(`${gateway.address}/api/garden`, { method: 'POST', headers, body });
  await answer.text();
  for (const [at, size] of [1, 70_000, 1_000_000].entries())
    await post('seeds', { text: 'x'.repeat(size) }, `key ${at}`);
  await post('seeds', { text: 'last', to: Array.from({ length: 3000 }, (_, at) => `${at}`) });
}

async function faultsOf(data: string): Promise<string[]> {
  const faults: string[] = [];
  for await (const event of verifyLog(data))
    if (event.type === 'fault') faults.push(`${event.seq} ${event.description}`);
  return faults;
}

suite('presence export and import', () => {
  let folder: string;
  const at = (name: string): string => join(folder, name);
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'presence-'));
    await fill(at('origin'));
    const { code, stderr } = await presence('export', '--data', at('origin'), at('log.ndjson'));
    assert.equal(code, 0, stderr);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('make the same log again, and its export has the same bytes', async () => {
    const exported = await readFile(at('log.ndjson'));
    const imported = await presence('import', at('log.ndjson'), '--data', at('copy'));
    assert.deepEqual(imported, {
      code: 0,
      stdout: `${SMALL + 4} entries imported. The log ends with entry ${SMALL + 4}.\n`,
      stderr: '',
    });
    assert.equal((await presence('export', '--data', at('copy'), at('again.zst'))).code, 0);
    assert.ok(zstdDecompressSync(await readFile(at('again.zst'))).equals(exported));
    assert.deepEqual(await faultsOf(at('copy')), []);
    await using gateway = await gatewayOn(at('copy'));
    const found = await fetch(`${gateway.address}/api/entries?identity=visitor+3&limit=1000`);
    assert.equal((await found.text()).match(/"visitor 3"/g)?.length, 57);
    assert.equal((await fetch(`${gateway.address}/api/entries?to=2999`)).status, 200);
    const overHttp: Uint8Array[] = [];
    for await (const chunk of new Gateway(gateway.address).logBytes()) overHttp.push(chunk);
    assert.ok(Buffer.concat(overHttp).equals(exported));
  });

  test('over HTTP give the same bytes as from the folder, beside the running gateway', async () => {
    const exported = await readFile(at('log.ndjson'), 'utf8');
    await using gateway = await gatewayOn(at('origin'));
    const { address } = gateway;
    const whole = await presence('export', '--url', address);
    assert.equal(whole.stdout, exported);
    assert.equal((await presence('export', '--data', at('origin'))).stdout, exported);
    const part = await presence('export', '--url', address, '--after', '100', '--limit', '20');
    const fromFolder = ['--data', at('origin'), '--after', '100', '--limit', '20'];
    assert.equal(part.stdout, (await presence('export', ...fromFolder)).stdout);
    assert.equal(part.stdout.split('\n').length, 22);
    assert.ok(exported.includes(part.stdout.slice(part.stdout.indexOf('\n') + 1)));
  });

  test('that are interrupted say that the rest is missing', async () => {
    const child = spawn(process.execPath, [MAIN, 'export', '--data', at('origin')]);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    await once(child.stdout, 'readable');
    child.kill('SIGINT');
    child.stdout.resume();
    await once(child, 'close');
    assert.equal(child.exitCode, 1);
    assert.match(stderr, /it was interrupted/);
  });

  test('need a name for the file', async () => {
    const { code, stderr } = await presence('export', '', '--data', at('origin'));
    assert.equal(code, 1);
    assert.match(stderr, /It must be the path of a file, not empty/);
  });

  test('write to a pipe by its name, which stays one', async () => {
    const pipe = at('pipe.zst');
    execFileSync('mkfifo', [pipe]);
    const [read, { code }] = await Promise.all([
      readFile(pipe),
      presence('export', '--data', at('origin'), pipe),
    ]);
    assert.equal(code, 0);
    assert.ok(zstdDecompressSync(read).equals(await readFile(at('log.ndjson'))));
    assert.ok((await lstat(pipe)).isFIFO());
  });

  test('end without a word for a reader who has read enough', async () => {
    const child = spawn(process.execPath, [MAIN, 'export', '--data', at('origin')]);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    await once(child.stdout, 'readable');
    child.stdout.destroy();
    await once(child, 'close');
    assert.deepEqual([child.exitCode, stderr], [0, '']);
  });

  test('that are killed at random points and run again have the same result', async () => {
    for (let kills = 0; kills < 4; kills += 1) {
      const args = [MAIN, 'import', '-', '--data', at('killed')];
      const child = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'ignore'] });
      child.stdin.on('error', () => {});
      const exported = await readFile(at('log.ndjson'));
      child.stdin.write(exported.subarray(0, Math.floor(Math.random() * exported.length)));
      setTimeout(() => child.kill('SIGKILL'), 300 + Math.random() * 700);
      await once(child, 'exit');
    }
    const last = await presence('import', at('log.ndjson'), '--data', at('killed'));
    assert.equal(last.code, 0, last.stderr);
    const again = await presence('export', '--data', at('killed'));
    assert.equal(again.stdout, await readFile(at('log.ndjson'), 'utf8'));
    assert.deepEqual(await faultsOf(at('killed')), []);
    const none = await presence('import', at('log.ndjson'), '--data', at('killed'));
    assert.match(none.stdout, /^0 entries imported/);
  });

  test('of parts continue the copy, and refuse a part that does not follow', async () => {
    const part = async (name: string, ...args: readonly string[]): Promise<void> => {
      assert.equal((await presence('export', '--data', at('origin'), ...args, at(name))).code, 0);
    };
    await part('first.gz', '--limit', '50');
    await part('second', '--after', '50', '--limit', '50');
    await part('fourth', '--after', '150');
    const run = (name: string): Promise<Run> => presence('import', at(name), '--data', at('parts'));
    assert.equal((await run('first.gz')).code, 0);
    assert.match((await run('fourth')).stderr, /Entry 151 does not follow the last one here/);
    assert.match((await run('second')).stdout, /ends with entry 100/);
    const lines = (await readFile(at('log.ndjson'), 'utf8')).split('\n');
    await writeFile(at('changed'), lines.join('\n').replace('мить 120', 'мить 121'));
    const changed = await run('changed');
    assert.deepEqual([changed.code, changed.stdout], [1, '']);
    assert.match(changed.stderr, /: Entry 121 is not what its link was made of/);
    await writeFile(at('cut'), lines.join('\n').slice(0, 100_000));
    assert.match((await run('cut')).stderr, /Line \d+ of the log breaks off/);
    await fill(at('other'));
    assert.equal((await presence('export', '--data', at('other'), at('other.ndjson'))).code, 0);
    assert.match((await run('other.ndjson')).stderr, /has another log: its name is/);
    await writeFile(at('none'), 'no log');
    assert.deepEqual([(await run('none')).code, (await run('missing')).code], [1, 2]);
    assert.equal((await run('log.ndjson')).code, 0);
    assert.deepEqual(await faultsOf(at('parts')), []);
  });

  test('of several compressed parts read all of them, and refuse a broken part', async () => {
    const lines = (await readFile(at('log.ndjson'), 'utf8')).split(/(?<=\n)/);
    const texts = [lines.slice(0, 50), lines.slice(50, 100)].map((part) => part.join(''));
    for (const [suffix, compress] of [
      ['gz', gzipSync],
      ['zst', zstdCompressSync],
    ] as const) {
      const [first, second] = texts.map((text) => compress(text)) as [Buffer, Buffer];
      const data = ['--data', at(`frames-${suffix}`)];
      await writeFile(at(`broken.${suffix}`), Buffer.concat([first, second.subarray(0, 3)]));
      const broken = await presence('import', at(`broken.${suffix}`), ...data);
      assert.deepEqual([broken.code, broken.stdout], [2, ''], suffix);
      await writeFile(at(`parts.${suffix}`), Buffer.concat([first, second]));
      const whole = await presence('import', at(`parts.${suffix}`), ...data);
      assert.match(whole.stdout, /The log ends with entry 99\./, whole.stderr);
    }
  });

  test('leave out entries that were not selected, from a folder and from a gateway', async () => {
    const filters = ['--kind', 'garden', '--by', 'visitor 3', '--after', '100', '--limit', '20'];
    const selected = await presence('export', '--data', at('origin'), ...filters);
    assert.equal(selected.code, 0, selected.stderr);
    const lines = selected.stdout.trimEnd().split('\n');
    assert.equal(lines.length, 20);
    const log = await readFile(at('log.ndjson'), 'utf8');
    for (const line of lines) {
      assert.ok(line.includes('"identity":"visitor 3"'), line);
      assert.ok(log.includes(`"entry":${line}}\n`), line);
    }
    const seqs = lines.map((line) => Number(/"seq":(\d+)/.exec(line)?.[1]));
    assert.ok((seqs[0] ?? 0) > 100, lines[0]);
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    );
    await using gateway = await gatewayOn(at('origin'));
    const url = await presence('export', '--url', gateway.address, ...filters);
    assert.equal(url.stdout, selected.stdout);
    const words = await presence('export', '--url', gateway.address, '-q', 'last');
    assert.equal(words.stdout.split('\n').length, 2);
    const locked = await presence('export', '--data', at('origin'), '--kind', 'seeds');
    assert.deepEqual([locked.code, locked.stdout], [2, '']);
    assert.match(locked.stderr, /--url/);
    const missing = await presence('export', '--data', at('missing'), '--kind', 'seeds');
    assert.equal(missing.code, 2);
    assert.equal(existsSync(at('missing')), false);
    assert.equal((await presence('backup', at('backup'), '--data', at('origin'))).code, 0);
    const backup = await presence('export', '--data', at('backup'), '--kind', 'seeds');
    assert.deepEqual([backup.code, backup.stdout], [2, '']);
    assert.match(backup.stderr, /is a backup\. Restore it into another folder/);
    const { stdout: whole } = await presence('export', '--data', at('backup'));
    await writeFile(at('whole.ndjson'), whole);
    const more = await presence('import', at('whole.ndjson'), '--data', at('backup'));
    assert.match(more.stderr, /is a backup\. Restore it into another folder/);
    const still = await presence('export', '--data', at('backup'), '--kind', 'seeds');
    assert.equal(still.stderr, backup.stderr);
    await writeFile(at('some.ndjson'), selected.stdout);
    const imported = await presence('import', at('some.ndjson'), '--data', at('some'));
    assert.equal(imported.code, 1, imported.stderr);
    assert.match(imported.stderr, /entries alone/);
  });
});
