// Withholding that is killed at a system call, and on a full disk: all or nothing, and a start finishes it.
// PRESENCE_KILL_POINTS says how many calls of each kind it tries, one after another.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { until } from '../../conformance/until.ts';
import { draftOf, fill, metadataOf } from '../../packages/gateway/src/log/log.fixture.ts';
import type { Log, Seq } from '../../packages/gateway/src/log/log.ts';
import { verifyLog } from '../../packages/gateway/src/store/log/verify.ts';
import { openSqliteLog } from '../../packages/gateway/src/store/store.ts';
import { filesWith } from '../files-with.ts';
import { dataFolder } from '../gateway-process.ts';
import { MIB, smallDisk } from './disk.ts';
import { inject } from './strace.ts';
import { needs } from '../needs.ts';

const WORD = 'quixotry';
const CALLS = ['pwrite64', 'fdatasync', 'ftruncate', 'unlink'] as const;
const POINTS = Number(process.env['PRESENCE_KILL_POINTS'] ?? 0);
const CALL_NUMBERS = Array.from({ length: POINTS }, (_, at) => at + 1);
/** Which call of a thread it is. */
const FEW_POINTS = { pwrite64: [1, 8], fdatasync: [2], ftruncate: [1], unlink: [1] };
const COUNT = 20;
/** More than are erased in one transaction. */
const MANY = 2500;
const PROCESS = new URL(
  '../../packages/gateway/src/store/withholding-process.fixture.ts',
  import.meta.url,
);

async function say(log: Log): Promise<Seq[]> {
  const seqs: Seq[] = [];
  for (let at = 0; at < COUNT; at += 1) {
    seqs.push(metadataOf(await log.append(draftOf({ body: `"text":"${WORD} ${at}"` }))).seq);
    await log.append(draftOf({ body: `"text":"${'another '.repeat(100)}"` }));
  }
  await using spool = log.spool();
  await fill(spool, [Buffer.from(`"text":"${`${WORD} `.repeat(20_000)}"`)]);
  seqs.push(metadataOf(await log.append({ ...draftOf(), body: spool })).seq);
  return seqs;
}

/** How many rows have nothing of the word any more, in a folder that no gateway runs on. */
function erasedIn(folder: string, seqs: readonly Seq[]): number {
  using log = new DatabaseSync(join(folder, 'log.sqlite'), { readOnly: true });
  const sql = `SELECT count(*) AS count FROM entries WHERE seq BETWEEN ? AND ? AND instr(text, ?) = 0`;
  const count = log.prepare(sql).get(Math.min(...seqs), Math.max(...seqs), Buffer.from(WORD));
  return Number(count?.['count']);
}

function untilErased(folder: string): Promise<unknown> {
  return until(
    () => filesWith(folder, WORD),
    (files) => files.length === 0,
  );
}

async function withheldOf(log: Log, seqs: readonly Seq[]): Promise<number> {
  const entries = await Promise.all(seqs.map((seq) => log.entry(seq)));
  return entries.filter((entry) => entry?.withheld !== undefined).length;
}

async function assertVerifies(folder: string): Promise<void> {
  for await (const event of verifyLog(folder)) assert.notEqual(event.type, 'fault');
}

test(
  'all are withheld or none, whichever system call the process is killed at',
  needs('strace'),
  async (t) => {
    await using folder = await dataFolder();
    const outcomes = new Map<string, number>();
    for (const call of CALLS) {
      for (const point of POINTS > 0 ? CALL_NUMBERS : FEW_POINTS[call]) {
        let seqs: Seq[];
        {
          await using log = await openSqliteLog({ folder: folder.path });
          seqs = await say(log);
        }
        const child = fork(PROCESS, [folder.path, 'withheld', ...seqs.map(String)]);
        const exited = once(child, 'exit');
        await once(child, 'message');
        {
          await using _ = await inject(child.pid ?? 0, call, `signal=SIGKILL:when=${point}`);
          child.send('withhold');
          await exited;
        }
        await using log = await openSqliteLog({ folder: folder.path });
        const withheld = await withheldOf(log, seqs);
        assert.ok(
          [0, seqs.length].includes(withheld),
          `${call} ${point}: ${withheld} are withheld`,
        );
        const outcome = `${child.signalCode === null ? 'ended' : 'killed'}, ${withheld === 0 ? 'none' : 'all'}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (withheld === 0) await log.withhold(seqs, 'spam');
        await untilErased(folder.path);
      }
    }
    t.diagnostic(JSON.stringify(Object.fromEntries(outcomes)));
    assert.ok(outcomes.has('killed, all') && outcomes.has('killed, none'));
    await assertVerifies(folder.path);
  },
);

test('so are more than are erased at once, wherever it is killed', needs('strace'), async (t) => {
  await using folder = await dataFolder();
  /** How many rows were erased at each point; -1 where none is withheld. */
  const outcomes = new Map<number, number>();
  for (const point of POINTS > 0 ? CALL_NUMBERS : [50, 200, 350, 500]) {
    let seqs: Seq[];
    {
      await using log = await openSqliteLog({ folder: folder.path });
      const bodies = Array.from({ length: MANY }, (_, at) => `"text":"${WORD} ${at}"`);
      const appended = await Promise.all(bodies.map((body) => log.append(draftOf({ body }))));
      seqs = appended.map((outcome) => metadataOf(outcome).seq);
    }
    const child = fork(PROCESS, [folder.path, 'withheld', ...seqs.map(String)]);
    const exited = once(child, 'exit');
    await once(child, 'message');
    {
      await using _ = await inject(child.pid ?? 0, 'pwrite64', `signal=SIGKILL:when=${point}`);
      child.send('withhold');
      await exited;
    }
    const erased = erasedIn(folder.path, seqs);
    await using log = await openSqliteLog({ folder: folder.path });
    const withheld = await withheldOf(log, seqs);
    assert.ok([0, MANY].includes(withheld), `${point}: ${withheld} are withheld`);
    outcomes.set(point, withheld === 0 ? -1 : erased);
    if (withheld === 0) assert.equal(await log.withhold(seqs, 'spam'), MANY);
    await untilErased(folder.path);
  }
  t.diagnostic(JSON.stringify([...outcomes]));
  assert.ok([...outcomes.values()].includes(-1), 'never before it was decided');
  assert.ok(
    [...outcomes.values()].some((erased) => erased > 0 && erased < MANY),
    'never between two steps of erasing',
  );
  await assertVerifies(folder.path);
});

test(
  'on a full disk nothing is withheld, or all is and the rest follows once there is room',
  needs('to mount a disk'),
  async () => {
    await using disk = await smallDisk(32 * MIB, 8 * MIB);
    await using log = await openSqliteLog({ folder: disk.data });
    const seqs = await say(log);
    await disk.fill();
    let isDone = false;
    const withholding = log.withhold(seqs, 'spam').then(
      () => (isDone = true),
      (error: unknown) => assert.match(String(error), /Nothing was changed/),
    );
    await until(
      async () => isDone || (await withheldOf(log, seqs)),
      (state) => state === true || state === 0 || state === seqs.length,
      (state) => `${state} of ${seqs.length} are withheld`,
    );
    await disk.free();
    await withholding;
    if (!isDone) await log.withhold(seqs, 'spam');
    assert.equal(await withheldOf(log, seqs), seqs.length);
    await untilErased(disk.data);
    await assertVerifies(disk.data);
  },
);
