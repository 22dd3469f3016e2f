/** Bytes of what is derived from the log are changed: answers stay right, and it is made again. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';

import { until } from '../../../../../../conformance/until.ts';
import { facet } from '../../../log/facet.ts';
import { draftOf, randomOf } from '../../../log/log.fixture.ts';
import type { Log, Selection } from '../../../log/log.ts';
import type { StoreChange } from '../store-thread.ts';
import { SqliteLog } from '../sqlite-log.ts';
import { openSqliteLog } from '../store.ts';

const GARDEN: Selection = { facets: [facet('kind', 'garden')], order: 'newest' };

async function textOf(log: Log, selection: Selection = GARDEN): Promise<string> {
  const pieces = log.readText(selection, ',\n');
  const copies = await Array.fromAsync(pieces, (piece) => Buffer.from(piece));
  return Buffer.concat(copies).toString();
}

/** Entries in the garden, every hundredth by a visitor with few others. */
async function fill(log: Log, count: number): Promise<void> {
  const text = 'a'.repeat(1000);
  const drafts = Array.from({ length: count }, (_, at) =>
    draftOf({ body: `"text":"${text}"`, members: { identity: [`visitor ${at % 100}`] } }),
  );
  await Promise.all(drafts.map((draft) => log.append(draft)));
}

describe('what is derived from the log', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'presence-'));
    await using log = await openSqliteLog({ folder });
    await fill(log, 4000);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is read from the log where a run has changed, and the run is written again', async () => {
    const changes: StoreChange[] = [];
    await using log = await openSqliteLog({ folder, onChange: (change) => changes.push(change) });
    const original = await textOf(log);
    const file = join(folder, 'runs', 'garden');
    const bytes = await readFile(file);
    for (const at of [500, 300_000, bytes.length - 500]) {
      const spoiled = Buffer.from(bytes);
      spoiled[at] = (spoiled[at] ?? 0) ^ 1;
      await writeFile(file, spoiled);
      assert.equal(await textOf(log), original);
      await until(
        async () => readFile(file),
        (now) => now.equals(bytes),
        () => 'The run is not written again.',
      );
    }
    assert.deepEqual([...new Set(changes.map(({ part }) => part))], ['derived']);
  });

  it('is read from the log where the row of a run has numbers that no run has', async () => {
    const changes: StoreChange[] = [];
    const change = (sql: string): void => {
      const db = new DatabaseSync(join(folder, 'index.sqlite'), { timeout: 5000 });
      db.exec(sql);
      db.close();
    };
    await using log = await openSqliteLog({ folder, onChange: (made) => changes.push(made) });
    const original = await textOf(log);
    for (const column of ['position', 'length']) {
      const before = changes.length;
      change(`UPDATE runs SET ${column} = -5 WHERE last = (SELECT max(last) FROM runs)`);
      assert.equal(await textOf(log), original);
      await until(
        async () => changes.length,
        (count) => count >= before + 2,
        () => 'The run is not found.',
      );
      assert.equal(await textOf(log), original);
    }
  });

  it('says nothing of lost entries where the position in it has changed', async () => {
    for (const change of [
      "value = 'f' || substr(value, 2) WHERE name = 'link'",
      "value = value + 1 WHERE name = 'indexed'",
      "value = 'another' WHERE name = 'log'",
    ]) {
      const db = new DatabaseSync(join(folder, 'index.sqlite'));
      db.exec(`UPDATE meta SET ${change}`);
      db.close();
      await using log = await openSqliteLog({ folder });
      assert.equal(log.head(), log.indexWatermark());
    }
  });

  const VISITOR: Selection = {
    facets: [facet('kind', 'garden'), facet('identity', 'visitor 7')],
    order: 'oldest',
  };

  /** What is read in the ways that use the index. */
  async function readings(log: Log): Promise<unknown[]> {
    const ordered = (order: 'newest' | 'oldest'): Promise<string> =>
      textOf(log, { ...VISITOR, order });
    const counts = await log.countBetween(facet('kind', 'garden'), [1, 700, 2100, 3999, 4001]);
    return [
      await textOf(log),
      await ordered('newest'),
      await ordered('oldest'),
      counts,
      log.roomCounts(),
    ];
  }

  async function spoil(change: (bytes: Buffer) => void): Promise<void> {
    const file = join(folder, 'index.sqlite');
    const bytes = await readFile(file);
    change(bytes);
    await writeFile(file, bytes);
  }

  for (const [how, change] of [
    ['thirty changed bytes', flipThirty],
    ['other thirty', (bytes: Buffer) => flipThirty(bytes, 2)],
    ['a page of zeros', (bytes: Buffer) => bytes.fill(0, 4096, 2 * 4096)],
    ['no header', (bytes: Buffer) => bytes.fill(0xff, 0, 100)],
    ['half of its pages', (bytes: Buffer) => bytes.fill(0xff, bytes.length / 2)],
  ] as const) {
    it(`is right from the start with an index that has ${how}`, async () => {
      let original: unknown[];
      {
        await using log = await openSqliteLog({ folder });
        original = await readings(log);
      }
      await spoil(change);
      const changes: StoreChange[] = [];
      await using log = await openSqliteLog({ folder, onChange: (made) => changes.push(made) });
      assert.deepEqual(await readings(log), original);
      if (how !== 'no header') return;
      assert.deepEqual(
        changes.map(({ part, cause }) => [part, cause?.code]),
        [
          ['derived', 'SQLite 26'],
          ['derived', undefined],
        ],
      );
    });

    it(`stays right when the index gets ${how} under it, and the index is made again`, async () => {
      const changes: StoreChange[] = [];
      await using log = await openSqliteLog({ folder, onChange: (made) => changes.push(made) });
      const original = await readings(log);
      checkpoint(join(folder, 'index.sqlite'));
      await spoil(change);
      // Has read nothing of it before.
      await using other = new SqliteLog(log.connect());
      assert.deepEqual(await readings(other), original);
      await log.append(draftOf({ kind: 'seeds', body: '"text":"one more"' }));
      await until(
        async () => changes.at(-1),
        (last) => last === undefined || last.cause === undefined,
        (last) => JSON.stringify(last),
      );
      assert.deepEqual((await readings(other)).slice(0, 4), original.slice(0, 4));
      assert.deepEqual((await readings(log)).slice(0, 4), original.slice(0, 4));
    });
  }
});

function flipThirty(bytes: Buffer, seed = 1): void {
  const random = randomOf(seed);
  for (let count = 0; count < 30; count += 1) {
    const at = 4096 + random(bytes.length - 4096);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
  }
}

/** Moves the WAL into the file. */
function checkpoint(file: string): void {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}
