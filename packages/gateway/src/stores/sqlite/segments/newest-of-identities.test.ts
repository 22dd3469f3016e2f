import assert from 'node:assert/strict';
import { StatementSync } from 'node:sqlite';
import { test } from 'node:test';

import { dataFolder } from '../../../../../../test/gateway-process.ts';
import type { Log, Seq } from '../../../log/log.ts';
import { draftOf, randomOf } from '../../../log/log.fixture.ts';
import { openSqliteLog } from '../store.ts';

const LARGE = 500;
const COUNT = 2000;

for (const visitors of [40, 1600])
  test(`the newest entry of each of ${visitors} identities is found, in the tail and in the index`, async () => {
    await using temporary = await dataFolder();
    const { path: folder } = temporary;
    const random = randomOf(20_261_123);
    const authors: { readonly name: string; readonly isLarge: boolean }[] = [];
    const append = async (log: Log): Promise<void> => {
      const added = Array.from({ length: COUNT }, () => {
        return { name: `visitor-${random(visitors)}`, isLarge: random(9) === 0 };
      });
      const drafts = added.map(({ name, isLarge }) => {
        const text = isLarge ? 'x'.repeat(LARGE) : '';
        const body = JSON.stringify({ identity: name, text }).slice(1, -1);
        return draftOf({ body, members: { identity: [name] } });
      });
      await Promise.all(drafts.map((draft) => log.append(draft)));
      authors.push(...added);
    };
    const check = async (log: Log, range: { after?: Seq; before?: Seq }): Promise<void> => {
      const { after = 0, before = authors.length + 1 } = range;
      const newest = log.readNewestOfIdentities({ ...range, maxSize: LARGE });
      const found = await Array.fromAsync(newest, ({ metadata }) => metadata.seq);
      assert.deepEqual(
        found,
        [...new Set(found)].toSorted((a, b) => b - a),
      );
      assert.ok(found.every((seq) => seq > after && seq < before && !authors[seq - 1]?.isLarge));
      const expected = new Map<string, Seq>();
      for (const [index, { name, isLarge }] of authors.entries()) {
        const seq = index + 1;
        if (!isLarge && seq > after && seq < before) expected.set(name, seq);
      }
      for (const seq of expected.values()) assert.ok(found.includes(seq), `${seq} is missing`);
      assert.equal(found.length, expected.size);
    };
    const ranges = [
      {},
      { after: 1500 },
      { after: 100, before: 1800 },
      { after: 1900, before: 1990 },
    ];
    {
      await using log = await openSqliteLog({ folder });
      await append(log);
      for (const range of ranges) await check(log, range);
    }
    // Now the index has them.
    await using log = await openSqliteLog({ folder });
    for (const range of ranges) await check(log, range);
    await append(log);
    for (const range of [...ranges, { after: 1000, before: 3900 }]) await check(log, range);
  });

test('they cost the same, however many names an entry addresses', async ({ mock }) => {
  await using temporary = await dataFolder();
  const { path: folder } = temporary;
  {
    await using log = await openSqliteLog({ folder });
    const to = Array.from({ length: 20_000 }, (_, at) => `visitor-${at}`);
    await log.append(
      draftOf({ kind: 'seeds', body: '"seed":""', members: { identity: ['a'], to } }),
    );
    const others = Array.from({ length: 500 }, () => draftOf({ members: { identity: ['b'] } }));
    await Promise.all(others.map((draft) => log.append(draft)));
  }
  // Now the index has them.
  await using log = await openSqliteLog({ folder });
  const queries = (['get', 'all'] as const).map(
    (name) => mock.method(StatementSync.prototype, name).mock,
  );
  const newest = log.readNewestOfIdentities({ maxSize: 1024 * 1024 });
  const found = await Array.fromAsync(newest, ({ metadata }) => metadata.seq);
  const count = queries.reduce((sum, query) => sum + query.callCount(), 0);
  mock.restoreAll();
  assert.ok(found.includes(1) && found.includes(501));
  assert.ok(count > 0 && count < 2000, `${count} queries`);
});
