// Logs that earlier formats have written are brought forward. Each `format-N` was written by a version
// that had that format: ten small entries, every second of them with a key, and a large one. Format 2 has
// an empty large one behind it, and what else was in its folder; so has format 3. Format 5 has that large
// one too. Format 6 is that of the release 0.2.0, with an entry behind them that was withheld: every later
// version brings it forward.
import assert from 'node:assert/strict';
import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';

import { verifyLog } from '@open-presence/gateway';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import { draftOf, fill } from '../../packages/gateway/src/log/log.fixture.ts';
import { BlockReader } from '../../packages/gateway/src/stores/sqlite/log/block-reader.ts';
import { openSqliteLog } from '../../packages/gateway/src/stores/sqlite/store.ts';
import { dataFolder } from '../gateway-process.ts';
import { HALVES, OMITTED } from '../readers/odd-members.ts';

const LOGS = [
  { format: 1, id: '7cf38c5832727de6', head: 11, identity: undefined },
  { format: 2, id: 'c91060521cf2eb26', head: 12, identity: 'visitor 4' },
  { format: 3, id: '0ab166ffcde431aa', head: 12, identity: 'visitor 4' },
  { format: 5, id: '2ab7b6444e4bce4d', head: 12, identity: 'visitor 4' },
  { format: 6, id: '0b228e71f8792c68', head: 13, identity: 'visitor 4' },
] as const;

function folderOf(format: number): string {
  return join(import.meta.dirname, `format-${format}`);
}

/** The texts of the small entries as the old file has them. */
function oldTexts(format: number): string[] {
  const db = new DatabaseSync(join(folderOf(format), 'log.sqlite'), { readOnly: true });
  const rows =
    format < 3
      ? db.prepare('SELECT text FROM entries WHERE large IS NULL ORDER BY seq').all()
      : [...new BlockReader(db).rows({ from: 1, to: 10 })];
  db.close();
  return rows.map(({ text }) => Buffer.from(text as Uint8Array).toString());
}

for (const { format, id, head, identity } of LOGS) {
  test(`a log of format ${format} keeps its entries and keys`, async () => {
    await using folder = await dataFolder();
    await cp(folderOf(format), folder.path, { recursive: true });
    {
      await using log = await openSqliteLog({ folder: folder.path });
      assert.deepEqual([log.id, log.head()], [id, head]);
      for (const [at, text] of oldTexts(format).entries())
        assert.equal(Buffer.from((await log.entry(at + 1))?.text ?? []).toString(), text);
      const chunks = (await log.entry(11))?.chunks() ?? [];
      const large = await Array.fromAsync(chunks, (chunk) => Buffer.from(chunk));
      assert.match(Buffer.concat(large).toString(), /"text":"(?:large ){200}"\}$/);
      assert.deepEqual(await verify(folder.path), []);
      if (identity !== undefined) {
        const facets = [facet('identity', identity)];
        const found = log.readEntries({ facets, order: 'oldest' });
        const seqs = await Array.fromAsync(found, ({ stamp }) => stamp.seq);
        assert.deepEqual(seqs, [4]);
      }
      for (const seq of [2, 10]) {
        const draft = draftOf({ body: `"text":"entry ${seq}"`, key: `key ${seq}` });
        const repeated = await log.append(draft);
        assert.equal(repeated.outcome, 'repeated');
        assert.equal(repeated.stamp.seq, seq);
        const other = await log.append({ ...draft, kind: 'shepit' });
        assert.equal(other.outcome, 'conflict');
        assert.equal(other.stamp.seq, seq);
      }
      for (const [word, outcome] of [
        ['large ', 'repeated'],
        ['other ', 'conflict'],
      ] as const) {
        const spool = log.spool();
        await fill(spool, [Buffer.from(`"text":"${word.repeat(200)}"`)]);
        const again = await log.append({ ...draftOf({ key: 'key large' }), body: spool });
        assert.equal(again.outcome, outcome);
      }
      if (head === 13) {
        const withheld = await log.entry(13);
        assert.equal(withheld?.withheld?.reason, 'spam');
        assert.equal((await log.append(draftOf({ key: 'key withheld' }))).outcome, 'repeated');
      }
      assert.equal((await log.append(draftOf({ key: 'new key' }))).outcome, 'appended');
      assert.equal(log.head(), head + 1);
    }
    assert.deepEqual(await verify(folder.path), []);
    await using again = await openSqliteLog({ folder: folder.path });
    assert.equal((await again.append(draftOf({ key: 'new key' }))).outcome, 'repeated');
  });
}

suite('bringing a log forward', () => {
  async function broughtForward(
    change: (folder: string) => void | Promise<void>,
  ): Promise<readonly string[]> {
    await using folder = await dataFolder();
    await cp(folderOf(2), folder.path, { recursive: true });
    await change(folder.path);
    await using log = await openSqliteLog({ folder: folder.path });
    assert.equal(log.head(), 12);
    assert.ok(!(await readdir(folder.path)).includes('log.sqlite-new'));
    return await verify(folder.path);
  }

  function exec(folder: string, sql: string): void {
    const db = new DatabaseSync(join(folder, 'log.sqlite'));
    db.exec(sql);
    db.close();
  }

  test('does not make right what had changed before', async () => {
    const changed = 'is not what its link was made of: it has changed, or the link';
    for (const [sql, faults] of [
      [
        `UPDATE entries SET text = CAST(replace(text, '"entry', '"Entry') AS BLOB) WHERE seq = 4`,
        [`4 ${changed}`],
      ],
      ['UPDATE entries SET link = zeroblob(32) WHERE seq = 9', [`9 ${changed}`]],
      [
        "UPDATE entries SET key = CAST('0' || substr(key, 2) AS BLOB) WHERE seq = 2",
        [`2 ${changed}`],
      ],
      ['DELETE FROM entries WHERE seq = 6', ['6 is missing']],
    ] as const)
      assert.deepEqual(await broughtForward((folder) => exec(folder, sql)), faults, sql);
    const lost = await broughtForward((folder) =>
      rm(join(folder, 'large', '8f'), { recursive: true }),
    );
    assert.deepEqual(lost, ['11 has lost its file']);
  });

  test('to other buckets of keys happens as a whole', async () => {
    await using folder = await dataFolder();
    await cp(folderOf(3), folder.path, { recursive: true });
    const db = new DatabaseSync(join(folder.path, 'log.sqlite'));
    // As one that was killed before its commit leaves it.
    db.exec('PRAGMA cache_size = 1; BEGIN; DROP TABLE keys; CREATE TABLE key_buckets (bucket)');
    await using killed = await dataFolder();
    await cp(folder.path, killed.path, { recursive: true });
    db.close();
    await using log = await openSqliteLog({ folder: killed.path });
    const draft = draftOf({ body: '"text":"entry 2"', key: 'key 2' });
    assert.equal((await log.append(draft)).outcome, 'repeated');
  });

  test('of format 4 changes nothing else', async () => {
    await using folder = await dataFolder();
    const drafts = [draftOf({ key: 'a key' }), draftOf()];
    {
      await using log = await openSqliteLog({ folder: folder.path });
      for (const draft of drafts) await log.append(draft);
    }
    exec(folder.path, 'DROP TABLE withheld; PRAGMA user_version = 4');
    {
      await using log = await openSqliteLog({ folder: folder.path });
      assert.equal(log.head(), 2);
      assert.equal((await log.append(draftOf({ key: 'a key' }))).outcome, 'repeated');
    }
    assert.deepEqual(await verify(folder.path), []);
  });

  test('of format 6 finds the entries that common readers refuse', async () => {
    await using folder = await dataFolder();
    const pad = `,"pad":"${'p'.repeat(300_000)}"`;
    const members = [...HALVES, ...OMITTED, '"a":1'];
    {
      // These drafts do not say what readers refuse, as no record of format 6 did.
      await using log = await openSqliteLog({ folder: folder.path });
      for (const member of members) {
        await log.append(draftOf({ body: member }));
        const spool = log.spool();
        await fill(spool, [Buffer.from(member + pad)]);
        await log.append({ ...draftOf(), body: spool });
      }
      await log.append(draftOf({ body: '' }));
      assert.equal((await log.entry(1))?.portability, undefined);
    }
    exec(folder.path, 'PRAGMA user_version = 6');
    await using log = await openSqliteLog({ folder: folder.path });
    const expected = members.map((member) => {
      if (HALVES.includes(member)) return 'halves';
      return OMITTED.includes(member) ? 'omitted' : undefined;
    });
    const entries = await Array.fromAsync(log.readEntries({ facets: [], order: 'oldest' }));
    assert.deepEqual(
      entries.map(({ portability }) => portability),
      [...expected.flatMap((one) => [one, one]), undefined],
    );
    assert.deepEqual(await verify(folder.path), []);
  });

  test('begins again where it was interrupted', async () => {
    const interrupted = await broughtForward(async (folder) => {
      await writeFile(join(folder, 'log.sqlite-new'), 'half of a log');
      for (const file of ['last-commit', 'index.sqlite']) await rm(join(folder, file));
    });
    assert.deepEqual(interrupted, []);
  });

  test('refuses an older log that has lost entries, and leaves it as it is', async () => {
    await using folder = await dataFolder();
    await cp(folderOf(2), folder.path, { recursive: true });
    exec(folder.path, 'DELETE FROM entries WHERE seq = 12');
    await assert.rejects(openSqliteLog({ folder: folder.path }), /ends with entry 11/);
    await using log = await openSqliteLog({ folder: folder.path, acceptLoss: true });
    assert.equal(log.head(), 11);
    assert.notEqual(log.id, LOGS[1].id);
  });
});

async function verify(folder: string): Promise<string[]> {
  const events = verifyLog(folder);
  const faults: string[] = [];
  for (;;) {
    const step = await events.next();
    if (step.done === true) return faults;
    if (step.value.type === 'fault') faults.push(`${step.value.seq} ${step.value.description}`);
  }
}
