// What a backup copies, what it refuses, and what a log is that comes from one.
import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';

import { Gateway, traceBody, uniqueName } from '../../conformance/gateway.ts';
import { type DataFolder, dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { assertPortable, formsOf, sayOddEntries } from '../readers/odd-members.ts';
import { backUp, presence, restore } from './backup-folder.ts';

const LARGE_SIZE = 400_000;
const KEY = { 'idempotency-key': uniqueName('key') };

async function contribute(data: string, texts: readonly string[]): Promise<void> {
  await using gateway = await startGatewayProcess({ data, args: ['--threads', '1'] });
  using visitor = new Gateway(gateway.url);
  for (const text of texts) await visitor.contribute('garden', traceBody('Lumen', { text }));
  await gateway.stop();
}

/** A log of three entries: a large one, and one with a key. */
async function threeEntries(data: string): Promise<void> {
  await using gateway = await startGatewayProcess({ data, args: ['--threads', '1'] });
  using visitor = new Gateway(gateway.url);
  await visitor.contribute('garden', traceBody('Lumen', { text: 'x'.repeat(LARGE_SIZE) }));
  await visitor.contribute('garden', traceBody('Lumen'), KEY);
  await visitor.contribute('garden', traceBody('Lumen'));
  await gateway.stop();
}

/** The files of large entries in a folder. */
async function largeFiles(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, 'large'), { recursive: true });
  return names.filter((name) => name.length > 36).map((name) => join(folder, 'large', name));
}

/** All that the log has, byte for byte. */
function rowsOf(folder: string): unknown[] {
  using db = new DatabaseSync(join(folder, 'log.sqlite'), { readOnly: true });
  return ['entries', 'large', 'withheld'].map((table) =>
    db.prepare(`SELECT * FROM ${table}`).all(),
  );
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

  test('has the whole log each time, and copies large files once', async () => {
    const [source, target] = [folder('growing'), folder('backup')];
    await cp(data, source, { recursive: true });
    const sizes: boolean[] = [];
    for (const texts of [[], [], ['more', 'y'.repeat(LARGE_SIZE)]]) {
      if (texts.length > 0) await contribute(source, texts);
      const begun = Date.now();
      const { report, faults } = await backUp(source, target);
      sizes.push(report.copied > LARGE_SIZE);
      assert.deepEqual(faults, []);
      assert.deepEqual(rowsOf(target), rowsOf(source));
      assert.equal((await presence(['verify', target])).code, 0);
      const noted = await readFile(join(source, 'last-backup'), 'utf8');
      assert.equal(noted, report.made);
      assert.ok(Date.parse(noted) >= begun);
    }
    assert.deepEqual(sizes, [true, false, true]);
    assert.deepEqual((await readdir(target)).toSorted(), ['large', 'lock.sqlite', 'log.sqlite']);
    for (const file of await largeFiles(source))
      assert.ok((await readFile(file)).equals(await readFile(file.replace(source, target))));
  });

  test('keeps a large file that the log has lost, and names one that it never had', async () => {
    const [source, target, fresh] = [folder('damaged'), folder('complete'), folder('faulty')];
    await cp(data, source, { recursive: true });
    await backUp(source, target);
    for (const file of await largeFiles(source)) await rm(file);
    assert.deepEqual((await backUp(source, target)).faults, []);
    assert.equal((await presence(['verify', target])).code, 0);
    const { code, stdout } = await presence(['backup', fresh, '--data', source]);
    assert.equal(code, 1);
    assert.match(stdout, /^Entry 1: has lost its file\n/);
    await assert.rejects(restore(fresh, folder('asked')), /--accept-faults/);
    assert.deepEqual(await readdir(folder('asked')), ['lock.sqlite']);
    const accepted = await restore(fresh, folder('asked'), { acceptFaults: true });
    assert.equal(accepted.report.faults, 1);
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
    await presence(['export', '--data', origin, folder('odd.ndjson')]);
    await presence(['import', folder('odd.ndjson'), '--data', imported]);
    for (const copy of [restored, imported, folder('odd-backup')]) {
      await using gateway = await startGatewayProcess({ data: copy });
      assert.deepEqual(await formsOf(gateway.url), forms);
      await gateway.stop();
    }
  });

  test('restores to a log that has keys, tells readers beyond its end, and goes on', async () => {
    const { report } = await backUp(data, folder('whole'));
    const target = folder('target');
    // As a restore leaves it that was killed.
    await mkdir(join(target, 'restoring'), { recursive: true });
    const unrestored = startGatewayProcess({ data: target });
    await assert.rejects(unrestored, /A restore into ".*" was interrupted\. Repeat it/);
    const { report: restored } = await restore(folder('whole'), target);
    await assert.rejects(restore(folder('whole'), target), /--replace/);
    await using gateway = await startGatewayProcess({ data: target });
    using visitor = new Gateway(gateway.url);
    const { status, json } = await visitor.get(`/api/garden?after=${report.head + 1}`);
    assert.deepEqual([status, json['code'], json['head']], [400, 'invalid-parameter', report.head]);
    assert.equal(json['log'], restored.name);
    assert.notEqual(restored.name, report.log, 'entries after the end may have been others');
    const again = await visitor.post('garden', traceBody('Lumen'), KEY);
    assert.equal(again.json['seq'], 2);
    const { entry } = await visitor.contribute('garden', traceBody('Lumen'));
    assert.equal(entry.seq, report.head + 1);
    await gateway.stop();
    await restore(folder('whole'), target, { replace: true, keepName: true });
    await using same = await startGatewayProcess({ data: target });
    using reader = new Gateway(same.url);
    const listing = await reader.list('/api/garden?limit=0');
    assert.deepEqual([listing.head, listing.log], [report.head, report.log]);
  });

  test('is a log of its own once a gateway was started on it, and not before', async () => {
    const target = folder('started');
    const { report } = await backUp(data, target);
    const leave = await presence(['cluster', 'leave', '--accept-loss', '--data', target]);
    assert.match(leave.stderr, /is a backup/);
    {
      await using gateway = await startGatewayProcess({ data: target });
      assert.match(gateway.output(), /this folder was a backup/);
      using visitor = new Gateway(gateway.url);
      const listing = await visitor.list('/api/garden?limit=0');
      assert.equal(listing.head, report.head);
      assert.notEqual(listing.log, report.log);
      const { code, stderr } = await presence(['backup', target, '--data', data]);
      assert.equal(code, 2);
      assert.match(stderr, /a gateway, is using/);
      await gateway.stop();
    }
    await assert.rejects(backUp(data, target), /has a log that is no backup/);
    assert.equal((await presence(['verify', target])).code, 0);
  });

  test('of version 0.2 can be restored, and the next backup takes its place', async () => {
    const target = folder('former');
    await backUp(data, target);
    {
      using db = new DatabaseSync(join(target, 'log.sqlite'));
      db.exec("DELETE FROM meta WHERE name = 'backup'");
    }
    await writeFile(join(target, 'backup.json'), '0\n{}\n');
    const { report } = await restore(target, folder('of-former'));
    assert.notEqual(report.name, report.log);
    await backUp(data, target);
    assert.deepEqual((await readdir(target)).toSorted(), ['large', 'lock.sqlite', 'log.sqlite']);
  });

  test('is refused where the folder has something else', async () => {
    await backUp(data, folder('own'));
    const other = folder('other');
    await contribute(other, ['another log']);
    const [shorter, longer] = [folder('shorter'), folder('longer')];
    for (const copy of [shorter, longer]) await cp(data, copy, { recursive: true });
    await contribute(longer, ['one more']);
    await backUp(longer, folder('of-longer'));
    for (const [source, target, reason] of [
      [data, data, /is the data folder itself/],
      [data, other, /has a log that is no backup/],
      [other, folder('own'), /is a backup of the log/],
      [shorter, folder('of-longer'), /another entry 4 than the log has, which ends with entry 3/],
    ] as const) {
      const { code, stderr } = await presence(['backup', target, '--data', source]);
      assert.equal(code, 2);
      assert.match(stderr, reason);
      assert.match(stderr, /another folder|folder of its own/);
    }
    await contribute(shorter, ['one of its own']);
    await assert.rejects(
      backUp(shorter, folder('of-longer')),
      /another entry 4 than the log has\./,
    );
    assert.equal((await presence(['verify', folder('of-longer')])).code, 0);
  });
});
