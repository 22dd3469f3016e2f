// What a backup copies, what it finds, and what a restored log is.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';

import { backUpLog, parseRetention } from '@open-presence/gateway';

import { Gateway, traceBody, uniqueName } from '../../conformance/gateway.ts';
import { type DataFolder, dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { assertPortable, formsOf, sayOddEntries } from '../readers/odd-members.ts';
import { COMMAND } from '../withhold/command.ts';
import { backUp, restore } from './backup-folder.ts';

/** More than a segment has. */
const LARGE_SIZE = 17 * 1024 * 1024;
const KEY = { 'idempotency-key': uniqueName('key') };

async function presence(...args: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [COMMAND, ...args]);
}

/** A log of three entries: one whose file completes a segment, and two small ones. */
async function threeEntries(data: string): Promise<void> {
  await using gateway = await startGatewayProcess({ data });
  using visitor = new Gateway(gateway.url);
  await visitor.contribute('garden', traceBody('Lumen', { text: 'x'.repeat(LARGE_SIZE) }));
  await visitor.contribute('garden', traceBody('Lumen'), KEY);
  await visitor.contribute('garden', traceBody('Lumen'));
  await gateway.stop();
}

/** A log in which a segment ends amid small entries, each in a block of its own. */
async function smallEntriesAcrossSegments(data: string): Promise<void> {
  await using gateway = await startGatewayProcess({ data });
  using visitor = new Gateway(gateway.url);
  for (let count = 0; count < 277; count += 1)
    await visitor.contribute('garden', traceBody('Lumen', { text: 'x'.repeat(60_000) }));
  for (let count = 0; count < 400; count += 1)
    await visitor.contribute('garden', traceBody('Lumen'));
  await gateway.stop();
}

async function addEntry(data: string): Promise<void> {
  await using gateway = await startGatewayProcess({ data });
  using visitor = new Gateway(gateway.url);
  await visitor.contribute('garden', traceBody('Lumen'));
  await gateway.stop();
}

/** The file of the only large body in a folder. */
async function largeFile(folder: string): Promise<string> {
  for (const file of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (file.isFile() && /large\/[\da-f]{2}$/.test(file.parentPath))
      return join(file.parentPath, file.name);
  throw new Error('There is none.');
}

/** Changes one byte. */
async function spoil(file: string): Promise<void> {
  const bytes = await readFile(file);
  bytes[1000] = (bytes[1000] ?? 0) ^ 1;
  await writeFile(file, bytes);
}

suite('a backup', () => {
  let folders: DataFolder;
  let data: string;
  const folder = (name: string): string => join(folders.path, name);
  before(async () => {
    folders = await dataFolder();
    data = folder('data');
    await threeEntries(data);
  });
  after(() => folders[Symbol.asyncDispose]());

  test('copies what changed since the one before, and nothing again', async () => {
    const first = await backUp(data, folder('incremental'));
    assert.ok(first.report.copied > LARGE_SIZE);
    const second = await backUp(data, folder('incremental'));
    assert.equal(second.report.copied, 0);
    assert.equal(second.report.reused, first.report.copied);
    await addEntry(data);
    const third = await backUp(data, folder('incremental'));
    assert.ok(third.report.copied < 4096, `${third.report.copied} bytes copied`);
    assert.equal(third.report.head, second.report.head + 1);
    const restored = await restore(third.report.file, folder('restored-increments'));
    assert.equal(restored.report.link, third.report.link);
  });

  test('copies again what has changed in the folder of backups since', async () => {
    const { report } = await backUp(data, folder('spoiled'));
    await spoil(await largeFile(folder('spoiled')));
    await assert.rejects(restore(folder('spoiled'), folder('refused')), /not what was backed up/);
    assert.deepEqual(await readdir(folder('refused')), ['lock.sqlite']);
    const next = await backUp(data, folder('spoiled'));
    assert.deepEqual(next.faults, []);
    assert.ok(next.report.copied > LARGE_SIZE);
    await restore(next.report.file, folder('unspoiled'));
    await assert.rejects(restore(report.file, folder('older')), /not what was backed up/);
  });

  test('has what the log has lost since the one before', async () => {
    await backUp(data, folder('complete'));
    const copy = folder('damaged');
    await restore(folder('complete'), copy, { keepName: true });
    await rm(await largeFile(copy));
    const { report, faults } = await backUp(copy, folder('complete'));
    assert.deepEqual([report.faults, faults], [0, []]);
    const fresh = await backUp(copy, folder('faulty'));
    assert.deepEqual(fresh.faults, ['1: has lost its file']);
    assert.equal(fresh.report.faults, 1);
    await assert.rejects(restore(folder('faulty'), folder('asked')), /--accept-faults/);
    const accepted = await restore(folder('faulty'), folder('asked'), { acceptFaults: true });
    assert.deepEqual(accepted.faults, ['1: has lost its file']);
  });

  test('may have been made of another copy of the log, which has other blocks', async () => {
    const [oneByOne, together] = [folder('one-by-one'), folder('together')];
    await smallEntriesAcrossSegments(oneByOne);
    await backUp(oneByOne, folder('one-by-one-first'));
    await addEntry(oneByOne);
    await presence('export', '--data', oneByOne, folder('log.ndjson'));
    await presence('import', folder('log.ndjson'), '--data', together);
    await backUp(together, folder('together-first'));
    await addEntry(oneByOne);
    for (const [source, name] of [
      [together, 'one-by-one-first'],
      [oneByOne, 'together-first'],
    ] as const) {
      assert.deepEqual((await backUp(source, folder(name))).faults, [], name);
      const { report, faults } = await restore(folder(name), folder(`restored-${name}`));
      assert.deepEqual([faults, report.entries], [[], report.head]);
    }
  });

  test('is removed by a rule, with what no other needs', async () => {
    for (let count = 0; count < 2; count += 1) await backUp(data, folder('thinned'));
    await addEntry(data);
    const { report } = await backUp(data, folder('thinned'), { keep: parseRetention('1') });
    assert.equal(report.removed.length, 2);
    assert.equal((await readdir(join(folder('thinned'), 'segments'))).length, 2);
    await restore(folder('thinned'), folder('kept'));
  });

  test('leaves nothing where it ends before it is complete', async () => {
    const target = folder('interrupted');
    for await (const _ of backUpLog(data, target)) {
      await assert.rejects(backUp(data, target), /Another backup is being made/);
      break;
    }
    await assert.rejects(restore(target, folder('nothing')), /there is no backup/);
    const interrupted = await readdir(join(target, 'segments'));
    await backUp(data, target);
    const segments = await readdir(join(target, 'segments'));
    assert.deepEqual(
      segments.filter((name) => interrupted.includes(name)),
      [],
    );
  });

  test('and an export keep the form in which entries stand beside others', async () => {
    const [origin, restored, imported] = [folder('odd'), folder('odd-back'), folder('odd-import')];
    let forms: readonly string[];
    {
      await using gateway = await startGatewayProcess({ data: origin });
      await sayOddEntries(gateway.url);
      forms = await formsOf(gateway.url);
      await gateway.stop();
    }
    assertPortable(forms);
    await backUp(origin, folder('odd-backup'));
    await restore(folder('odd-backup'), restored);
    await presence('export', '--data', origin, folder('odd.ndjson'));
    await presence('import', folder('odd.ndjson'), '--data', imported);
    for (const copy of [restored, imported]) {
      await using gateway = await startGatewayProcess({ data: copy });
      assert.deepEqual(await formsOf(gateway.url), forms);
      await gateway.stop();
    }
  });

  test('restores to a log that has keys, tells readers beyond its end, and goes on', async () => {
    const { report } = await backUp(data, folder('whole'));
    const target = folder('target');
    const { report: restored } = await restore(folder('whole'), target);
    await assert.rejects(restore(folder('whole'), target), /--replace/);
    await using gateway = await startGatewayProcess({ data: target });
    using visitor = new Gateway(gateway.url);
    const { status, json } = await visitor.get(`/api/garden?after=${report.head + 1}`);
    assert.deepEqual([status, json['code'], json['head']], [400, 'invalid-parameter', report.head]);
    assert.equal(json['log'], restored.name);
    assert.notEqual(restored.name, report.log, 'entries behind the end may have been others');
    const again = await visitor.post('garden', traceBody('Lumen'), KEY);
    assert.equal(again.json['seq'], 2);
    assert.equal(
      (await visitor.contribute('garden', traceBody('Lumen'))).entry.seq,
      report.head + 1,
    );
    await gateway.stop();
    await restore(folder('whole'), target, { replace: true, keepName: true });
    await using same = await startGatewayProcess({ data: target });
    using reader = new Gateway(same.url);
    const listing = await reader.list('/api/garden?limit=0');
    assert.deepEqual([listing.head, listing.log], [report.head, report.log]);
  });
});
