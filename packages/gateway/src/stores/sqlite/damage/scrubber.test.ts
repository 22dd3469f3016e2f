/** Bytes of entries are changed on the disk: nobody is given them as what was stored. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';

import { until } from '../../../../../../conformance/until.ts';
import { dataFolder } from '../../../../../../test/gateway-process.ts';
import { facet } from '../../../log/facet.ts';
import { draftOf, fill, plainTexts } from '../../../log/log.fixture.ts';
import type { Entry, Log } from '../../../log/log.ts';
import { changeEntry } from '../log/changed-log.fixture.ts';
import type { StoreChange } from '../store-thread.ts';
import { openSqliteLog } from '../store.ts';
import { scrubProgress } from './scrubber.ts';

const COUNT = 20;
const CHANGED = 7;

async function appendLarge(log: Log, byte: number): Promise<void> {
  const spool = log.spool();
  await fill(spool, [Buffer.from('"text":"'), Buffer.alloc(700_000, byte), Buffer.from('"')]);
  await log.append({ ...draftOf(), body: spool });
}

async function textOf(entry: Entry | undefined): Promise<string> {
  const chunks = await Array.fromAsync(entry?.chunks() ?? [], (chunk) => Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

describe('an entry whose bytes have changed', () => {
  it('is unreadable when it is asked for, and is found where nobody asks', async () => {
    await using folder = await dataFolder();
    {
      await using log = await openSqliteLog({ folder: folder.path });
      for (let seq = 1; seq <= COUNT; seq += 1)
        await log.append(draftOf({ body: `"text":"entry ${seq}"` }));
    }
    const db = new DatabaseSync(join(folder.path, 'log.sqlite'));
    changeEntry(db, CHANGED, ({ text: [text] }) => ({
      text: [Buffer.from(text.toString().replace('"entry', '"Entry'))],
    }));
    db.close();
    const changes: StoreChange[] = [];
    await using log = await openSqliteLog({
      folder: folder.path,
      onChange: (change) => changes.push(change),
    });
    assert.match(await textOf(await log.entry(CHANGED)), /,"unreadable":true\}$/);
    assert.match(await textOf(await log.entry(CHANGED + 1)), /"text":"entry 8"\}$/);
    await until(
      async () => changes,
      (found) => found.length > 0,
      () => 'It is not reported.',
    );
    assert.deepEqual(
      changes.map(({ part, seq }) => [part, seq]),
      [['entry', CHANGED]],
    );
    const listed = log.readEntries({ facets: [], order: 'oldest' });
    const unreadable = await Array.fromAsync(listed, ({ unreadable = false }) => unreadable);
    assert.deepEqual(
      unreadable,
      Array.from({ length: COUNT }, (_, at) => at + 1 === CHANGED),
    );
  });

  it('is unreadable in listings too, although their files were made of what it has now', async () => {
    await using folder = await dataFolder();
    const seeds = { kind: 'seeds' } as const;
    {
      await using log = await openSqliteLog({ folder: folder.path });
      for (let seq = 1; seq <= COUNT; seq += 1)
        await log.append(draftOf({ ...seeds, body: `"text":"entry ${seq} ${'x'.repeat(5000)}"` }));
      // Ends the run.
      const spool = log.spool();
      await fill(spool, [Buffer.from('"text":"large"')]);
      await log.append({ ...draftOf(seeds), body: spool });
    }
    const db = new DatabaseSync(join(folder.path, 'log.sqlite'));
    changeEntry(db, CHANGED, ({ text: [text] }) => ({
      text: [Buffer.from(text.toString().replace('"entry', '"Entry'))],
    }));
    db.close();
    await rm(join(folder.path, 'segments'), { recursive: true });
    await using log = await openSqliteLog({ folder: folder.path });
    assert.equal((await log.entry(CHANGED))?.unreadable, true);
    const selection = { facets: [facet('kind', 'seeds')], order: 'newest' } as const;
    await until(
      async () => {
        const texts = plainTexts(log, selection, ',\n');
        return Buffer.concat(
          await Array.fromAsync(texts, (chunk) => Buffer.from(chunk)),
        ).toString();
      },
      (text) => text.includes('"unreadable":true') && !text.includes('Entry'),
      (text) => text.slice(0, 300),
    );
  });

  it('is not given to its end if it is large, and is readable once it is put back', async () => {
    await using folder = await dataFolder();
    const changes: StoreChange[] = [];
    await using log = await openSqliteLog({
      folder: folder.path,
      onChange: (change) => changes.push(change),
    });
    await appendLarge(log, 0x61);
    await appendLarge(log, 0x62);
    const files = await readdir(join(folder.path, 'large'), { recursive: true });
    const names = files.filter((name) => name.length > 36 && !name.includes('.'));
    const contents = await Promise.all(
      names.map(async (name) => await readFile(join(folder.path, 'large', name))),
    );
    const first = contents.findIndex((bytes) => bytes[100] === 0x61);
    const file = join(folder.path, 'large', names[first] ?? '');
    const bytes = contents[first] ?? Buffer.alloc(0);
    const read = await log.entry(1);
    await writeFile(file, Buffer.from(bytes).fill(0x63, 400_000, 400_001));
    await assert.rejects(textOf(read), /is not what its link was made of/);
    assert.equal((await log.entry(1))?.unreadable, true);
    assert.equal((await textOf(await log.entry(2))).length > 700_000, true);
    await writeFile(file, bytes);
    await until(
      async () => changes.at(-1),
      (last) => last?.part === 'entry' && last.cause === undefined,
      (last) => JSON.stringify(last),
    );
    assert.equal((await textOf(await log.entry(1))).includes('aaa'), true);
  });

  it('in the row of an idempotency key is found by its key again, though nobody verifies the log', async () => {
    await using folder = await dataFolder();
    const drafts = [1, 2, 3].map((at) =>
      draftOf({ key: `key ${at}`, body: `"text":"entry ${at}"` }),
    );
    {
      await using log = await openSqliteLog({ folder: folder.path });
      for (const draft of drafts) await log.append(draft);
    }
    const changes: StoreChange[] = [];
    {
      const pass = Promise.withResolvers<number>();
      await using log = await openSqliteLog({
        folder: folder.path,
        onChange: (change) => changes.push(change),
        onVerified: pass.resolve,
      });
      using db = new DatabaseSync(join(folder.path, 'keys.sqlite'), { timeout: 5000 });
      assert.equal(db.prepare('DELETE FROM keys WHERE seq = 2').run().changes, 1);
      await until(
        async () => changes.map(({ part, cause }) => [part, cause?.message]),
        (found) => found.length === 2,
        (found) => JSON.stringify(found),
      );
      assert.match(changes[0]?.cause?.message ?? '', /^An idempotency key was missing/);
      for (const draft of drafts) assert.equal((await log.append(draft)).outcome, 'repeated');
      assert.equal(await pass.promise, 3);
    }
    const { at = 0, completed = 0 } = scrubProgress(folder.path) ?? {};
    assert.ok(at <= 3 && completed > 0);
  });

  it('is found though nobody reads it', async () => {
    await using folder = await dataFolder();
    const changes: StoreChange[] = [];
    await using log = await openSqliteLog({
      folder: folder.path,
      onChange: (change) => changes.push(change),
    });
    await appendLarge(log, 0x61);
    const files = await readdir(join(folder.path, 'large'), { recursive: true });
    const name = files.find((found) => found.length > 36 && !found.includes('.')) ?? '';
    const file = join(folder.path, 'large', name);
    const bytes = await readFile(file);
    await writeFile(file, Buffer.from(bytes).fill(0x63, 400_000, 400_001));
    await until(
      async () => changes,
      (found) => found.some(({ part, seq, cause }) => part === 'entry' && seq === 1 && cause),
      () => 'It is not found.',
    );
    assert.equal((await log.entry(1))?.unreadable, true);
  });
});
