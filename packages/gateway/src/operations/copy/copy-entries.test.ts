import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';

import { entryHead } from '@open-presence/protocol';

import { grammar } from '../../intake/intake.fixture.ts';
import { parseDraft } from '../../intake/draft.ts';
import { facet } from '../../log/facet.ts';
import { draftOf, fill } from '../../log/log.fixture.ts';
import type { LogCopier } from '../../log/log-copier.ts';
import { dataPathsIn } from '../../store/data-paths.ts';
import { RowReader } from '../../store/log/row-reader.ts';
import { largeChunksSync } from '../../store/large/large-files.ts';
import { verifyLog } from '../../store/log/verify.ts';
import { openLogCopy, openSqliteLog } from '../../store/store.ts';
import { CopyRefusal, EntryCopier } from './copy-entries.ts';
import type { LogLine } from '../log-line.ts';

const LARGE = 'large '.repeat(40_000);
const FIRST = { head: 0, link: '0'.repeat(64) };

async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'presence-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Entries with keys and without, empty ones, ones in files, and ones with more facets than fit in memory. */
async function fillOrigin(folder: string): Promise<string> {
  await using log = await openSqliteLog({ folder });
  const small = Array.from({ length: 30 }, (_, index) => {
    const at = index + 1;
    const members = { text: `тиша ${at}`, identity: `visitor ${at % 3}`, identityType: 'human' };
    const draft = parseDraft('garden', Buffer.from(JSON.stringify(members)), grammar);
    return log.append(at % 2 === 0 ? draft : { ...draft, key: Buffer.alloc(32, at) });
  });
  await Promise.all(small);
  await log.append(draftOf({ kind: 'seeds', body: '' }));
  for (const [body, key] of [
    [`"text":"${LARGE}"`, 'large'],
    ['', undefined],
  ] as const) {
    const spool = log.spool();
    await fill(spool, [Buffer.from(body)]);
    await log.append({ ...draftOf({ kind: 'seeds', ...(key && { key }) }), body: spool });
  }
  const seeking = JSON.stringify(Array.from({ length: 5000 }, (_, at) => `${at}`));
  const spool = log.spool();
  await fill(spool, [Buffer.from(`"seeking":${seeking}`)]);
  await log.append({ ...draftOf({ kind: 'resonance' }), body: spool });
  await log.append(draftOf({ kind: 'shepit', body: '"text":"last","visitor_id":null,"notes":[]' }));
  return log.id;
}

function linesOf(folder: string): LogLine[] {
  const paths = dataPathsIn(folder);
  const db = new DatabaseSync(paths.log, { readOnly: true });
  const log = new RowReader(db);
  const lines = Array.from(log.rows({ from: 1, to: log.lastSeq() }), (row) => {
    const { seq, kind, room, head, link, salt, digest, keyHash, text, large } = row;
    const file = large === undefined ? [] : [...largeChunksSync(paths, large)];
    const bytes = Buffer.concat([text, ...file.map((chunk) => Buffer.from(chunk))]);
    const body = bytes.subarray(head + 1, -1);
    return {
      id: bytes.toString('latin1', 7, 43),
      seq,
      kind,
      room,
      link: link.toString('hex'),
      salt: digest === undefined ? salt.toString('hex') : undefined,
      digest: digest && Buffer.from(digest).toString('hex'),
      key: keyHash && Buffer.from(keyHash).toString('hex'),
      thread: digest && row.thread !== seq ? row.thread.toString(16) : undefined,
      own: bytes.subarray(0, head),
      body: large === undefined ? body : undefined,
      chunks: () => chunked(body),
    };
  });
  db.close();
  return lines;
}

async function* chunked(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 10_000) yield bytes.subarray(at, at + 10_000);
}

async function copyInto(copier: LogCopier, lines: Iterable<LogLine>): Promise<void> {
  const copying = new EntryCopier(copier, grammar);
  copying.assertContinues(FIRST);
  await copying.add([...lines]);
  await copying.flush();
}

async function contentOf(folder: string): Promise<readonly string[]> {
  const contents: string[] = [];
  for (const line of linesOf(folder)) {
    const { link, salt, digest, key, own } = line;
    const body = Buffer.concat(await Array.fromAsync(line.chunks())).toString();
    contents.push([link, salt, digest, key, Buffer.from(own).toString(), body].join(' '));
  }
  return contents;
}

async function faultsOf(folder: string): Promise<string[]> {
  const faults: string[] = [];
  for await (const event of verifyLog(folder))
    if (event.type === 'fault') faults.push(`${event.seq} ${event.description}`);
  return faults;
}

suite('copying what was withheld', () => {
  test('withholds it in the copy too, whether it was copied before or not', async () => {
    await using origin = await temporaryFolder();
    await using before = await temporaryFolder();
    await using after = await temporaryFolder();
    const name = await fillOrigin(origin.path);
    const copyTo = async (folder: string): Promise<void> => {
      await using opened = await openLogCopy({ folder, name });
      await copyInto(opened.copier, linesOf(origin.path));
    };
    await copyTo(before.path);
    {
      await using log = await openSqliteLog({ folder: origin.path });
      assert.equal(await log.withhold([2, 3, 31, 32, 34], 'spam "x"'), 5);
    }
    for (const folder of [before.path, after.path]) {
      await copyTo(folder);
      assert.deepEqual(await contentOf(folder), await contentOf(origin.path));
      assert.deepEqual(await faultsOf(folder), []);
      await using log = await openSqliteLog({ folder });
      const listed = log.withholdings({ order: 'oldest' });
      const seqs = await Array.fromAsync(listed, ({ metadata, reason }) => [metadata.seq, reason]);
      assert.deepEqual(
        seqs,
        [2, 3, 31, 32, 34].map((seq) => [seq, 'spam "x"']),
      );
      assert.equal((await log.entry(32))?.withheld?.reason, 'spam "x"');
    }
  });
});

suite('copying entries', () => {
  let origin: string;
  let name: string;
  before(async () => {
    origin = await mkdtemp(join(tmpdir(), 'presence-'));
    name = await fillOrigin(origin);
  });
  after(() => rm(origin, { recursive: true, force: true }));

  test('makes the same log, which goes on by itself', async () => {
    await using copy = await temporaryFolder();
    {
      await using opened = await openLogCopy({ folder: copy.path, name });
      await copyInto(opened.copier, linesOf(origin));
    }
    assert.deepEqual(await contentOf(copy.path), await contentOf(origin));
    {
      await using log = await openSqliteLog({ folder: copy.path });
      assert.equal(log.id, name);
      for (const [facets, expected] of [
        [[facet('kind', 'garden'), facet('identity', 'visitor 1')], 10],
        [[facet('seeking', '4999')], 1],
      ] as const) {
        const found = await Array.fromAsync(log.readEntries({ facets, order: 'oldest' }));
        assert.equal(found.length, expected);
      }
      const again = await log.append({ ...draftOf(), key: Buffer.alloc(32, 1) });
      assert.equal(again.outcome, 'appended');
      assert.equal(log.head(), 36);
    }
    assert.deepEqual(await faultsOf(copy.path), []);
  });

  test('goes on after what is there, and skips it', async () => {
    await using copy = await temporaryFolder();
    for (const count of [0, 7, 32, 33, 35, 35]) {
      await using opened = await openLogCopy({ folder: copy.path, name });
      await copyInto(opened.copier, linesOf(origin).slice(0, count));
      assert.equal(opened.copier.head(), count);
    }
    assert.deepEqual(await contentOf(copy.path), await contentOf(origin));
  });

  test('into a running gateway serves the entries as they come', async () => {
    await using copy = await temporaryFolder();
    await using log = await openSqliteLog({ folder: copy.path, name });
    {
      await using copier = log.copier();
      await copyInto(copier, linesOf(origin));
    }
    assert.equal(log.id, name);
    const entry = await log.entry(30);
    const metadata = entry?.metadata;
    assert.ok(metadata !== undefined && entry?.text !== undefined);
    assert.ok(
      Buffer.from(entry.text)
        .toString()
        .startsWith(`${entryHead(metadata)},"text":"тиша 30"`),
    );
  });

  test('refuses what does not follow with its seq, and keeps what came before', async () => {
    const lines = linesOf(origin);
    const changed = (seq: number, change: (line: LogLine) => Partial<LogLine>): LogLine[] =>
      linesOf(origin).map((line, at) => (at === seq - 1 ? { ...line, ...change(line) } : line));
    const replaced = (from: string, to: string) => (line: LogLine) => {
      const text = Buffer.from(line.body ?? []).toString();
      const body = Buffer.from(text.replace(from, to));
      return { body, chunks: () => chunked(body) };
    };
    const cases: readonly (readonly [readonly LogLine[], number, RegExp])[] = [
      [changed(5, replaced('тиша', 'шум')), 5, /not what its link was made of/],
      [changed(6, replaced('"text":', '"text" :')), 6, /not what its link was made of/],
      [changed(6, replaced('"text"', '"id":1,"text"')), 6, /not what its link was made of/],
      [changed(6, replaced('"text"', '"room":"x","text"')), 6, /not what its link was made of/],
      [changed(7, () => ({ salt: '0'.repeat(32) })), 7, /not what its link was made of/],
      [changed(9, () => ({ key: undefined })), 9, /not what its link was made of/],
      [changed(10, () => ({ key: '0'.repeat(64) })), 10, /not what its link was made of/],
      [changed(11, () => ({ link: '0'.repeat(64) })), 11, /not what its link was made of/],
      [changed(12, () => ({ salt: undefined })), 12, /has not the form/],
      [changed(13, replaced('"text":"', '"text":')), 13, /has not the form/],
      [changed(14, ({ own }) => ({ own: own.subarray(1) })), 14, /has not the form/],
      [changed(15, () => ({ kind: 'garten' })), 15, /has not the form/],
      [changed(16, () => ({ room: 'ü' })), 16, /has not the form/],
      [lines.filter((_, at) => at !== 19), 21, /entries between them are missing/],
      [changed(32, () => ({ chunks: () => chunked(Buffer.from(LARGE)) })), 32, /has not the form/],
    ];
    await using copy = await temporaryFolder();
    await using opened = await openLogCopy({ folder: copy.path, name });
    for (const [given, seq, reason] of cases) {
      await assert.rejects(copyInto(opened.copier, given), (error: unknown) => {
        assert.ok(error instanceof CopyRefusal, String(error));
        assert.match(error.message, reason);
        assert.equal(error.seq, seq);
        return true;
      });
      assert.equal(opened.copier.head(), seq === 21 ? 19 : seq - 1);
    }
  });

  test('refuses another log with the seq where it differs', async () => {
    await using copy = await temporaryFolder();
    await using other = await temporaryFolder();
    await fillOrigin(other.path);
    {
      await using opened = await openLogCopy({ folder: copy.path, name });
      await copyInto(opened.copier, linesOf(origin).slice(0, 20));
      await assert.rejects(
        copyInto(opened.copier, linesOf(other.path)),
        /^Error: Entry 1 is another one/,
      );
      const copying = new EntryCopier(opened.copier, grammar);
      const [link = ''] = linesOf(other.path)
        .slice(19)
        .map((line) => line.link);
      assert.throws(() => copying.assertContinues({ head: 20, link }), /Entry 20 is another one/);
      assert.throws(() => copying.assertContinues({ head: 21, link }), /are missing/);
    }
    await assert.rejects(
      openLogCopy({ folder: copy.path, name: '0123456789abcdef' }),
      /has another log: its name is/,
    );
  });
});
