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
    // Otherwise, segments may know an entry that a test removes, and none after it.
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

function flip(bytes: Buffer, at: number): void {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
}

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

  /** Changes the bytes of files, runs the command, and puts them back. */
  async function verifyChanged(
    changes: Readonly<Record<string, (bytes: Buffer) => void>>,
    ...args: readonly string[]
  ): Promise<Run> {
    const originals = new Map<string, Buffer>();
    for (const [name, change] of Object.entries(changes)) {
      const file = join(folder, name);
      const bytes = await readFile(file);
      originals.set(file, Buffer.from(bytes));
      change(bytes);
      await writeFile(file, bytes);
    }
    const run = await presence('verify', '--data', folder, ...args);
    for (const [file, bytes] of originals) await writeFile(file, bytes);
    return run;
  }

  test('names each that has changed, and that it is made again', async () => {
    const { code, stdout, stderr } = await verifyChanged({
      'segments/000000/index.sqlite': (bytes) => flip(bytes, bytes.length - 2000),
    });
    const [log, ...lines] = stdout.trimEnd().split('\n');
    assert.match(log ?? '', /^20 entries, 1\.2 MB, unbroken\./);
    assert.match(
      lines[0] ?? '',
      /^segments\/000000\/index\.sqlite: has other bytes than were written/,
    );
    for (const line of lines) assert.match(line, /; the gateway makes it again from the log$/);
    assert.deepEqual([code, stderr, lines.length], [3, '', 1]);
  });

  test('lists them in its JSON apart from the faults of the log', async () => {
    const { code, stdout } = await verifyChanged(
      {
        'segments/000000/segment.json': (bytes) => flip(bytes, 20),
      },
      '--json',
    );
    const { faults, derived } = JSON.parse(stdout) as Record<string, readonly unknown[]>;
    assert.deepEqual([code, faults], [3, []]);
    assert.deepEqual(derived, [
      { file: 'segments/000000/segment.json', what: 'is not what was written' },
    ]);
  });

  test('does not name missing files', async () => {
    await rm(join(folder, 'segments'), { recursive: true });
    const { code, stdout } = await presence('verify', '--data', folder);
    assert.deepEqual([code, stdout.split('\n').length], [0, 2]);
  });
});
