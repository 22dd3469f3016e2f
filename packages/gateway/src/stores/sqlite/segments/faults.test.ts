/** What much, strange or failing input costs: of segments, statements and wake-ups, never in time. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { describe, it, mock } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { createContext, runInContext } from 'node:vm';
import { setTimeout as pause } from 'node:timers/promises';

import { until } from '../../../../../../conformance/until.ts';
import { dataFolder } from '../../../../../../test/gateway-process.ts';
import { facet } from '../../../log/facet.ts';
import { draftOf } from '../../../log/log.fixture.ts';
import type { Log } from '../../../log/log.ts';
import { seqsFound, textQuery, untilSearchable } from '../../../search/search.fixture.ts';
import type { StoreChange } from '../store-thread.ts';
import { openSqliteLog } from '../store.ts';

async function sayMany(log: Log, count: number, text = 'moss'): Promise<void> {
  const drafts = Array.from({ length: count }, (_, at) =>
    draftOf({ body: `"text":"${text} w${at}"`, members: { identity: [`visitor ${at % 50}`] } }),
  );
  await Promise.all(drafts.map((draft) => log.append(draft)));
}

/** How many statements are run in this thread meanwhile. */
async function statementsOf(work: () => unknown): Promise<number> {
  const methods = (['all', 'get', 'iterate'] as const).map(
    (name) => mock.method(StatementSync.prototype, name).mock,
  );
  await work();
  const count = methods.reduce((sum, method) => sum + method.callCount(), 0);
  mock.restoreAll();
  return count;
}

describe('segments', () => {
  it('that come after entries of very many facets leave no facets in the thread that reads them', async () => {
    await using folder = await dataFolder();
    await using log = await openSqliteLog({ folder: folder.path });
    // Nothing is indexed.
    await until(
      async () => existsSync(join(folder.path, 'segments')),
      () => true,
      () => '',
    );
    rmSync(join(folder.path, 'segments'), { recursive: true, force: true });
    const names = Array.from({ length: 126 }, (_, at) => `name ${at}`);
    const draft = draftOf({ body: '"text":"moss"', members: { to: names } });
    for (let round = 0; round < 10; round += 1)
      await Promise.all(Array.from({ length: 1000 }, () => log.append(draft)));
    const before = heldBytes();
    assert.deepEqual(await seqsFound(log, { facets: [facet('to', 'nobody')] }), []);
    // All facets are 20 MB. What was freed may be counted for a moment.
    await until(
      async () => heldBytes() - before,
      (grown) => grown < 15e6,
      (grown) => `${grown} bytes`,
    );
  });

  it('count an entry that they do not have yet once, however often the rooms are counted', async () => {
    await using folder = await dataFolder();
    await using log = await openSqliteLog({ folder: folder.path });
    await sayMany(log, 3000);
    log.roomCounts();
    const count = await statementsOf(() => {
      for (let at = 0; at < 100; at += 1) log.roomCounts();
    });
    assert.ok(count < 100, `${count} statements`);
  });

  it('are each asked with one statement for entries that none has', async () => {
    await using folder = await dataFolder();
    await using log = await openSqliteLog({ folder: folder.path, segmentSize: 100 });
    await sayMany(log, 2000);
    await untilSearchable(log);
    const visitors = Array.from({ length: 50 }, (_, at) => facet('identity', `visitor ${at}`));
    for (const facets of [
      [facet('identity', 'nobody'), facet('kind', 'garden')],
      // The alternatives would be several statements.
      [facet('kind', 'seeds'), visitors],
    ] as const) {
      await seqsFound(log, { facets });
      const count = await statementsOf(() => seqsFound(log, { facets }));
      assert.ok(count <= 20 + 10, `${count} statements`);
    }
  });

  it('are not woken while nobody says anything', async () => {
    await using folder = await dataFolder();
    const child = fork(new URL('./idle-process.fixture.ts', import.meta.url), [folder.path]);
    let turns = Infinity;
    for (let round = 0; round < 10 && turns >= 100; round += 1)
      [turns] = (await once(child, 'message')) as [number];
    child.kill();
    await once(child, 'exit');
    assert.ok(turns < 100, `${turns} system calls that read`);
  });

  it('stay as they are where a file could not be opened for a moment', async () => {
    await using folder = await dataFolder();
    const changes: StoreChange[] = [];
    await using log = await openSqliteLog({
      folder: folder.path,
      segmentSize: 100,
      onChange: (change) => changes.push(change),
    });
    await sayMany(log, 250);
    await untilSearchable(log);
    const inodes = (): number[] =>
      ['000000', '000001'].map(
        (name) => statSync(join(folder.path, 'segments', name, 'index.sqlite')).ino,
      );
    await until(
      async () =>
        ['000000', '000001'].every((name) =>
          existsSync(join(folder.path, 'segments', name, 'segment.json')),
        ),
      Boolean,
      () => 'They are not sealed.',
    );
    const before = inodes();
    const failing = mock.method(StatementSync.prototype, 'all', () => {
      throw Object.assign(new Error('disk I/O error'), { errcode: 10, code: 'ERR_SQLITE_ERROR' });
    });
    const found = seqsFound(log, { facets: [facet('identity', 'visitor 7')], order: 'newest' });
    await found.catch(() => {});
    failing.mock.restore();
    const again = await seqsFound(log, { facets: [facet('identity', 'visitor 7')] });
    assert.deepEqual(again, [8, 58, 108, 158, 208]);
    await pause(300);
    assert.deepEqual(inodes(), before);
    assert.deepEqual(changes, []);
  });

  it('that have nothing of what is withheld are not touched', async () => {
    await using folder = await dataFolder();
    await using log = await openSqliteLog({ folder: folder.path, segmentSize: 100 });
    await sayMany(log, 450);
    await untilSearchable(log);
    const path = (name: string): string => join(folder.path, 'segments', name, 'index.sqlite');
    const others = ['000000', '000001', '000003'];
    const records = others.map((name) => join(folder.path, 'segments', name, 'segment.json'));
    await until(
      async () => records.every((record) => existsSync(record)),
      Boolean,
      () => 'They are not sealed.',
    );
    const inodes = (): number[] => others.map((name) => statSync(path(name)).ino);
    const before = inodes();
    assert.equal(await log.withhold([250], 'spam'), 1);
    assert.deepEqual(inodes(), before);
    assert.deepEqual(await seqsFound(log, { textQuery: textQuery('w249') }), []);
    assert.deepEqual(await seqsFound(log, { textQuery: textQuery('w248') }), [249]);
  });

  it('are right after the process was killed at any point of writing, sealing and deleting', async () => {
    await using folder = await dataFolder();
    const module = new URL('./sealing-process.fixture.ts', import.meta.url);
    for (let round = 0; round < 12; round += 1) {
      const child = fork(module, [folder.path]);
      await once(child, 'message');
      await pause(round * 25);
      child.kill('SIGKILL');
      if (child.signalCode === null && child.exitCode === null) await once(child, 'exit');
    }
    await using log = await openSqliteLog({ folder: folder.path, segmentSize: 64 });
    await untilSearchable(log);
    const all = Array.from({ length: log.head() }, (_, at) => at + 1);
    const withheld = new Set<number>();
    for await (const { metadata } of log.withholdings({ order: 'oldest' }))
      withheld.add(metadata.seq);
    const said = all.filter((seq) => !withheld.has(seq));
    assert.deepEqual(await seqsFound(log, { textQuery: textQuery('moss') }), said);
    assert.deepEqual(await seqsFound(log, { facets: [facet('identity', 'Lumen')] }), said);
    assert.deepEqual(await seqsFound(log, { facets: [facet('kind', 'garden')] }), said);
    assert.equal(
      log.roomCounts().reduce((sum, { count }) => sum + count, 0),
      said.length,
    );
  });
});

/** What this thread still holds, once its garbage is collected. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  runInContext('gc()', createContext());
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
