// Logs that earlier formats have written are brought forward. `format-1` was written by the version
// that had that format: ten small entries, every second of them with a key, and a large one.
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { verifyLog } from '@open-presence/gateway';

import { draftOf, fill } from '../../packages/gateway/src/log/log.fixture.ts';
import { openSqliteLog } from '../../packages/gateway/src/stores/sqlite/store.ts';
import { dataFolder } from '../gateway-process.ts';

const LAST_LINK = '41688cc72d4dee62debf034bd8a8d884c384888d4555597e6dd4a5e11918f943';

test('a log of format 1 keeps its entries, links and keys', async () => {
  await using folder = await dataFolder();
  await cp(join(import.meta.dirname, 'format-1'), folder.path, { recursive: true });
  {
    await using log = await openSqliteLog({ folder: folder.path });
    assert.equal(log.id, '7cf38c5832727de6');
    assert.equal(log.head(), 11);
    const text = (await log.entry(4))?.text;
    assert.match(Buffer.from(text ?? []).toString(), /"text":"entry 4"\}$/);
    assert.deepEqual(await verify(folder.path), { faults: [], link: LAST_LINK });
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
    assert.equal((await log.append(draftOf({ key: 'new key' }))).outcome, 'appended');
    assert.equal(log.head(), 12);
  }
  assert.deepEqual((await verify(folder.path)).faults, []);
  await using again = await openSqliteLog({ folder: folder.path });
  assert.equal((await again.append(draftOf({ key: 'new key' }))).outcome, 'repeated');
});

async function verify(folder: string): Promise<{ faults: string[]; link: string }> {
  const events = verifyLog(folder);
  const faults: string[] = [];
  for (;;) {
    const step = await events.next();
    if (step.done === true) return { faults, link: step.value.link };
    if (step.value.type === 'fault') faults.push(step.value.description);
  }
}
