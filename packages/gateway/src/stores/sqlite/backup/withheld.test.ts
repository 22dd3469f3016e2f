/** What was said in a withheld entry is in no backup that ends later, and in nothing restored from one. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';

import { filesWith } from '../../../../../../test/files-with.ts';
import { draftOf, fill, stampOf } from '../../../log/log.fixture.ts';
import type { Log, Seq } from '../../../log/log.ts';
import { storeDecided, takeDecided } from '../log/decided-withholding.ts';
import { verifyLog, type VerifyResult } from '../log/verify.ts';
import { openSqliteLog, type OwnedLog } from '../store.ts';
import { backUpLog, type BackupReport } from './back-up.ts';
import { restoreLog } from './restore-log.ts';
import { parseRetention } from './retention.ts';

const WORD = 'quixotry';
const NEWEST = parseRetention('1');

async function say(log: Log, text: string): Promise<Seq> {
  return stampOf(await log.append(draftOf({ body: `"text":"${text}"` }))).seq;
}

async function sayLarge(log: Log, text: string): Promise<Seq> {
  await using spool = log.spool();
  await fill(spool, [Buffer.from(`"text":"${text}"`)]);
  return stampOf(await log.append({ ...draftOf(), body: spool })).seq;
}

/** `between`: called once, before the backup is complete. */
async function backUp(
  data: string,
  folder: string,
  between = async (): Promise<void> => {},
): Promise<BackupReport> {
  const events = backUpLog(data, folder, { keep: NEWEST });
  for (let count = 0; ; count += 1) {
    const step = await events.next();
    if (step.done === true) return step.value;
    assert.equal(step.value.type, 'progress');
    if (count === 0) await between();
  }
}

async function verified(data: string): Promise<VerifyResult> {
  const events = verifyLog(data);
  for (;;) {
    const step = await events.next();
    if (step.done === true) return step.value;
    assert.equal(step.value.type, 'progress');
  }
}

describe('a backup after entries were withheld', () => {
  let root: string;
  let log: OwnedLog;
  const folder = (name: string): string => join(root, name);
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'presence-'));
    log = await openSqliteLog({ folder: folder('data') });
  });
  after(async () => {
    await log[Symbol.asyncDispose]();
    await rm(root, { recursive: true });
  });

  it('has nothing of what they said, and restores to a log that says when and why', async () => {
    const small = await say(log, `${WORD} small`);
    const large = await sayLarge(log, `${WORD} ${'large '.repeat(20_000)}`);
    await say(log, 'stays');
    await backUp(folder('data'), folder('backups'));
    assert.equal((await filesWith(folder('backups'), WORD)).length, 2);
    await log.withhold([large, small], 'spam');
    const report = await backUp(folder('data'), folder('backups'));
    assert.deepEqual(await filesWith(folder('backups'), WORD), []);
    assert.deepEqual(await filesWith(folder('backups'), 'stays'), [
      `segments/${(await readdir(folder('backups/segments')))[0]}/blocks`,
    ]);
    for await (const _ of restoreLog(report.file, folder('restored')));
    assert.deepEqual(await filesWith(folder('restored'), WORD), []);
    const { link, faults, entries } = await verified(folder('restored'));
    assert.deepEqual([link, faults, entries], [report.link, 0, 3]);
    await using restored = await openSqliteLog({ folder: folder('restored') });
    assert.equal(restored.withheld(), 2);
    const again = await backUp(folder('data'), folder('backups'));
    assert.equal(again.copied, 0, 'what has not changed is not copied again');
  });

  it('waits until entries that are being withheld are listed', async () => {
    using db = new DatabaseSync(join(folder('data'), 'log.sqlite'));
    storeDecided(db, [{ seq: 1, time: 0, reason: 'spam', digest: new Uint8Array(0) }]);
    let isListed = false;
    setTimeout(() => {
      takeDecided(db);
      isListed = true;
    }, 300);
    await backUp(folder('data'), folder('waiting'));
    assert.ok(isListed);
  });

  it('has nothing of what was withheld while it was made', async () => {
    const seq = await say(log, `${WORD} late`);
    const report = await backUp(folder('data'), folder('late'), async () => {
      await log.withhold([seq], 'spam');
    });
    assert.deepEqual(await filesWith(folder('late'), WORD), []);
    assert.equal(report.faults, 0);
    assert.equal(report.head, seq);
  });
});
