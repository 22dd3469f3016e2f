// What a backup copies, what it finds, what it refuses, and what a log is that comes from one.
import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';

import { backUpLog, verifyLog } from '@open-presence/gateway';

import { Gateway, traceBody, uniqueName } from '../../conformance/gateway.ts';
import { type DataFolder, dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { assertPortable, formsOf, sayOddEntries } from '../readers/odd-members.ts';
import { withhold } from '../command.ts';
import { backUp, presence, restore } from './backup-folder.ts';

const LARGE_SIZE = 400_000;
const KEY = { 'idempotency-key': uniqueName('key') };
/** More than one page of rows has. */
const MANY = 4200;

async function contribute(data: string, texts: readonly string[]): Promise<void> {
  await using gateway = await startGatewayProcess({ data, args: ['--threads', '1'] });
  using visitor = new Gateway(gateway.url);
  for (const text of texts) await visitor.contribute('garden', traceBody('Lumen', { text }));
  await gateway.stop();
}

/** A log of four entries: a large one, one with a key, and a large one with many facets. */
async function fourEntries(data: string): Promise<void> {
  await using gateway = await startGatewayProcess({ data, args: ['--threads', '1'] });
  using visitor = new Gateway(gateway.url);
  await visitor.contribute('garden', traceBody('Lumen', { text: 'x'.repeat(LARGE_SIZE) }));
  await visitor.contribute('garden', traceBody('Lumen'), KEY);
  await visitor.contribute('garden', traceBody('Lumen'));
  const to = Array.from({ length: 20_000 }, (_, index) => `visitor ${index}`);
  await visitor.contribute('garden', traceBody('Lumen', { text: 'to many', to }));
  await gateway.stop();
}

/** The files of large entries in a folder, relative to it. */
async function largeFiles(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, 'large'), { recursive: true });
  return names.filter((name) => name.length > 36).map((name) => join('large', name));
}

async function flip(file: string, at: number): Promise<void> {
  const bytes = await readFile(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(file, bytes);
}

async function hasFaults(folder: string): Promise<boolean> {
  try {
    return (await Array.fromAsync(verifyLog(folder))).some(({ type }) => type === 'fault');
  } catch {
    return true;
  }
}

function linksOf(folder: string): unknown[] {
  using db = new DatabaseSync(join(folder, 'log.sqlite'), { readOnly: true });
  return db.prepare('SELECT seq, hex(link) AS link FROM entries').all();
}

suite('a backup', () => {
  let folders: DataFolder;
  let data: string;
  const folder = (name: string): string => join(folders.path, name);
  before(async () => {
    folders = await dataFolder();
    data = folder('data');
    await fourEntries(data);
  });
  after(() => folders[Symbol.asyncDispose]());

  test('copies what is new since the one before, and nothing again', async () => {
    const source = folder('growing');
    await cp(data, source, { recursive: true });
    const target = folder('increments');
    const first = await backUp(source, target);
    assert.ok(first.report.copied > LARGE_SIZE);
    assert.equal(first.report.added, 4);
    for (const options of [{}, { quick: true }]) {
      const { report } = await backUp(source, target, options);
      assert.deepEqual([report.copied, report.added, report.replaced], [0, 0, 0]);
      assert.deepEqual([report.entries, report.link], [4, first.report.link]);
    }
    await contribute(source, ['more', 'y'.repeat(LARGE_SIZE)]);
    const { report } = await backUp(source, target, { quick: true });
    assert.deepEqual([report.added, report.entries, report.head], [2, 6, 6]);
    assert.ok(report.copied > LARGE_SIZE && report.copied < LARGE_SIZE + 1000);
    assert.deepEqual(linksOf(target), linksOf(source));
    const { code, stdout } = await presence(['verify', target, '--json']);
    const verified = JSON.parse(stdout) as { readonly link: string };
    assert.deepEqual([code, verified.link], [0, report.link]);
    const restored = await restore(target, folder('restored-increments'));
    assert.equal(restored.report.link, report.link);
  });

  test('puts back what has changed in it since', async () => {
    const target = folder('spoiled');
    await backUp(data, target);
    const [file = ''] = await largeFiles(target);
    await flip(join(target, file), 1000);
    await assert.rejects(restore(target, folder('refused')), /not what was backed up/);
    assert.deepEqual(await readdir(folder('refused')), ['lock.sqlite']);
    using db = new DatabaseSync(join(target, 'log.sqlite'));
    db.exec(`UPDATE entries SET text = CAST(replace(text, 'trace', 'place') AS BLOB) WHERE seq = 2;
      DELETE FROM entries WHERE seq = 3`);
    db.close();
    const { report, faults } = await backUp(data, target, { quick: true });
    assert.deepEqual([faults, report.entries], [[], 4]);
    assert.equal((await presence(['verify', target])).code, 0);
    assert.deepEqual(linksOf(target), linksOf(data));
    await restore(target, folder('unspoiled'));
  });

  test('has what the log has lost since the one before, and names it where it has not', async () => {
    const [source, target, fresh] = [folder('damaged'), folder('complete'), folder('faulty')];
    await cp(data, source, { recursive: true });
    await backUp(source, target);
    for (const file of await largeFiles(source)) await rm(join(source, file));
    using db = new DatabaseSync(join(source, 'log.sqlite'));
    db.exec("UPDATE entries SET sum = x'' WHERE seq = 2");
    db.close();
    await contribute(source, ['goes on']);
    const { report, faults } = await backUp(source, target);
    assert.deepEqual([report.faults, faults, report.entries], [0, [], 5]);
    const { code, stdout } = await presence(['backup', fresh, '--data', source]);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^Entry 1: has lost its file\nEntry 2: cannot be read.*\nEntry 4: has lost/,
    );
    await assert.rejects(restore(fresh, folder('asked')), /--accept-faults/);
    const accepted = await restore(fresh, folder('asked'), { acceptFaults: true });
    assert.equal(accepted.faults.length, 3);
  });

  test('may be brought up to date from another copy of the log', async () => {
    const [first, second, target] = [folder('first'), folder('second'), folder('of-both')];
    await contribute(first, ['one', 'two', 'three']);
    await presence(['export', '--data', first, folder('log.ndjson')]);
    await presence(['import', folder('log.ndjson'), '--data', second]);
    await backUp(second, target);
    await contribute(first, ['four']);
    const { report, faults } = await backUp(first, target);
    assert.deepEqual([report.added, faults], [1, []]);
    assert.deepEqual(linksOf(target), linksOf(first));
  });

  test('of many entries goes on from what an interrupted one has', async () => {
    const source = folder('many');
    await contribute(source, ['first']);
    const lines = Array.from({ length: MANY }, (_, index) => JSON.stringify({ text: `t${index}` }));
    {
      await using gateway = await startGatewayProcess({ data: source });
      const post = async (line: string): Promise<unknown> =>
        await (await fetch(`${gateway.url}/api/seeds`, { method: 'POST', body: line })).text();
      for (let at = 0; at < MANY; at += 200)
        await Promise.all(lines.slice(at, at + 200).map((line) => post(line)));
      await gateway.stop();
    }
    const target = folder('interrupted');
    for await (const _ of backUpLog(source, target)) {
      await assert.rejects(backUp(source, target), /Another backup is being made/);
      break;
    }
    const verified = await presence(['verify', target]);
    assert.equal(verified.code, 2);
    assert.match(verified.stderr, /a backup is being made in .*, or was interrupted/);
    for (const args of [[], ['--replace', '--keep-name']]) {
      const refused = await presence(['restore', target, '--data', folder('none'), ...args]);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /was interrupted/);
    }
    await assert.rejects(startGatewayProcess({ data: target }), /was interrupted/);
    const salvaged = await restore(target, folder('salvaged'), { acceptFaults: true });
    assert.deepEqual(salvaged.faults, []);
    const { report } = await backUp(source, target);
    assert.ok(report.added > 0 && report.added < MANY, `${report.added} of them were added`);
    assert.deepEqual(linksOf(target), linksOf(source));
    assert.equal((await presence(['verify', target])).code, 0);
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

  test('is a log of its own once a gateway was started on it', async () => {
    const target = folder('started');
    const { report } = await backUp(data, target);
    {
      await using gateway = await startGatewayProcess({ data: target });
      assert.match(gateway.output(), /this folder was a backup/);
      using visitor = new Gateway(gateway.url);
      const listing = await visitor.list('/api/garden?limit=0');
      assert.equal(listing.head, report.head);
      assert.notEqual(listing.log, report.log);
      assert.equal((await visitor.post('garden', traceBody('Lumen'), KEY)).json['seq'], 2);
      const { code, stderr } = await presence(['backup', target, '--data', data]);
      assert.equal(code, 2);
      assert.match(stderr, /A gateway is using/);
      await gateway.stop();
    }
    await assert.rejects(backUp(data, target), /has a log that is no backup/);
    assert.equal((await presence(['verify', target])).code, 0);
    await backUp(target, folder('of-started'));
  });

  test('is changed by nothing but the next one', async () => {
    const target = folder('kept');
    await backUp(data, target);
    for (const args of [
      ['withhold', '--kind', 'garden', '--reason', 'a test', '--yes', '--data', target],
      ['cluster', 'leave', '--accept-loss', '--data', target],
    ]) {
      const { code, stderr } = await presence(args);
      assert.ok(code !== 0, args.join(' '));
      assert.match(stderr, /is a backup/);
    }
    assert.equal((await presence(['verify', target])).code, 0);
  });

  test('is refused where the folder has something else', async () => {
    await backUp(data, folder('own'));
    const other = folder('other');
    await contribute(other, ['another log']);
    const shorter = folder('shorter');
    await cp(data, shorter, { recursive: true });
    await backUp(shorter, folder('longer'));
    const longer = folder('longer-data');
    await cp(data, longer, { recursive: true });
    await contribute(longer, ['one more']);
    await backUp(longer, folder('longer'));
    for (const [source, target, reason] of [
      [data, data, /is the data folder itself/],
      [data, other, /has a log that is no backup/],
      [other, folder('own'), /is a backup of the log/],
      [shorter, folder('longer'), /another entry 5 than the log has, which ends with entry 4/],
    ] as const) {
      const { code, stderr } = await presence(['backup', target, '--data', source]);
      assert.equal(code, 2);
      assert.match(stderr, reason);
      assert.match(stderr, /another folder|folder of its own/);
    }
    await contribute(shorter, ['one of its own']);
    await assert.rejects(backUp(shorter, folder('longer')), /another entry 5 than the log has\./);
    assert.equal((await presence(['verify', folder('longer')])).code, 0);
  });

  test('tells by its verification of any byte that has changed', async () => {
    const [source, target] = [folder('flip-data'), folder('flipped')];
    await cp(data, source, { recursive: true });
    await contribute(source, ['regrettable']);
    await withhold(source, '-q', 'regrettable', '--reason', 'a wish', '--yes');
    await backUp(source, target);
    const files = ['log.sqlite', 'backup.json', ...(await largeFiles(target))];
    const missed: string[] = [];
    for (const file of files) {
      const path = join(target, file);
      const whole = await readFile(path);
      const step = Math.max(1, Math.floor(whole.length / (file === 'log.sqlite' ? 150 : 15)));
      for (let at = 0; at < whole.length; at += step) {
        await writeFile(path, whole.with(at, (whole[at] ?? 0) ^ 1));
        if (!(await hasFaults(target))) missed.push(`${file} at ${at}`);
      }
      const { code } = await presence(['verify', target]);
      if (code !== 1 && code !== 2) missed.push(`${file}, by the command`);
      await writeFile(path, whole);
    }
    assert.deepEqual(missed, []);
    assert.equal((await presence(['verify', target])).code, 0);
  });
});
