/** Bytes of what is derived from the log are changed: answers stay right, and it is made again. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { until } from '../../../../../../conformance/until.ts';
import { facet } from '../../../log/facet.ts';
import { draftOf } from '../../../log/log.fixture.ts';
import type { Log, Selection } from '../../../log/log.ts';
import type { StoreChange } from '../store-thread.ts';
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
});
