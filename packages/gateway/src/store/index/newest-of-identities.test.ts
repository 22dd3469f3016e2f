import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dataFolder } from '../../../../../test/gateway-process.ts';
import type { Seq } from '../../log/log.ts';
import { draftOf, randomOf } from '../../log/log.fixture.ts';
import { openSqliteLog } from '../store.ts';

const LARGE = 500;

test('the newest entry of each identity is found, of those that are short and neither hidden nor withheld', async () => {
  await using folder = await dataFolder();
  await using log = await openSqliteLog({ folder: folder.path });
  const random = randomOf(20_261_123);
  const said = Array.from({ length: 2000 }, (_, at) => {
    return { seq: at + 1, name: `visitor-${random(300)}`, isLarge: random(9) === 0 };
  });
  const drafts = said.map(({ name, isLarge }) => {
    const body = JSON.stringify({ identity: name, text: isLarge ? 'x'.repeat(LARGE) : '' });
    return draftOf({ body: body.slice(1, -1), members: { identity: [name] } });
  });
  await Promise.all(drafts.map((draft) => log.append(draft)));
  const gone = [1500, 1990, 1999];
  await log.withhold(gone.slice(1), 'spam', 'hidden');
  await log.withhold(gone.slice(0, 1), 'spam');
  for (const range of [{}, { after: 1500 }, { after: 100, before: 1800 }]) {
    const newest = log.readNewestOfIdentities({ ...range, maxSize: LARGE });
    const found = await Array.fromAsync(newest, ({ metadata }) => metadata.seq);
    const { after = 0, before = Infinity } = range;
    const expected = new Map<string, Seq>();
    for (const { seq, name, isLarge } of said)
      if (!isLarge && !gone.includes(seq) && seq > after && seq < before) expected.set(name, seq);
    assert.deepEqual(
      found,
      [...expected.values()].toSorted((a, b) => b - a),
    );
  }
});
