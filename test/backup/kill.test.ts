// Backups of a gateway that is killed again and again under load. Some of them are killed too.
// PRESENCE_BACKUPS makes more of them, PRESENCE_BACKUP_PAUSE_MS a slower load: with 360 and 2000, all
// of them take less than an hour.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Gateway } from '../../conformance/gateway.ts';
import { MIB, smallDisk } from '../crash/disk.ts';
import { assertSound, Ledger } from '../crash/ledger.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { SeededRandom } from '../seeded-random.ts';
import { needs } from '../needs.ts';
import { backUp, presence, restore } from './backup-folder.ts';

const BACKUPS = Number(process.env['PRESENCE_BACKUPS'] ?? 4);
/** Of a writer, between two entries; between two kills, ten times as long at most. */
const PAUSE_MS = Number(process.env['PRESENCE_BACKUP_PAUSE_MS'] ?? 20);
const WRITERS = 16;
/** About how long the command takes, its start included. */
const BACKUP_MS = 1500;

test('backups during kills under load have what was acknowledged before they began', async (t) => {
  await using folders = await dataFolder();
  const [data, backup] = [join(folders.path, 'data'), join(folders.path, 'backup')];
  const random = new SeededRandom(Math.floor(Math.random() * 2 ** 32));
  const ledger = new Ledger();
  const end = new AbortController();
  const first = Promise.withResolvers<void>();
  const load = runAndKill({ data, ledger, random, end: end.signal, first: () => first.resolve() });
  await Promise.race([first.promise, load]);
  let checked = 0;
  for (let count = 0; count < BACKUPS; count += 1) {
    const acknowledged = new Set(ledger.acknowledged.map(({ own }) => idIn(own)));
    const isKilled = count % 3 === 2;
    const killing = isKilled ? { afterMs: 1 + random.below(BACKUP_MS) } : {};
    const { code, stderr } = await presence(['backup', backup, '--data', data], killing);
    if (!isKilled) assert.equal(code, 0, stderr);
    if (code === 0) {
      await assertBackup(backup, join(folders.path, 'restored'), ledger.asOf(acknowledged));
      checked += 1;
    }
    await pause(200);
  }
  end.abort();
  await load;
  t.diagnostic(`${checked} backups, ${ledger.acknowledged.length} entries acknowledged`);
});

/** A gateway starts on what is restored, which has what the ledger does and is sound. */
async function assertBackup(backup: string, folder: string, ledger: Ledger): Promise<void> {
  const { report } = await restore(backup, folder);
  {
    await using gateway = await startGatewayProcess({ data: folder });
    using visitor = new Gateway(gateway.url);
    assert.equal(await ledger.compare(visitor), report.head);
    await gateway.stop();
  }
  await assertSound(folder, report.head);
  await rm(folder, { recursive: true });
}

test('a backup that is killed at any moment keeps what it had, and the next one completes it', async (t) => {
  await using folders = await dataFolder();
  const at = (name: string): string => join(folders.path, name);
  const [data, backup] = [at('data'), at('backup')];
  await using gateway = await startGatewayProcess({ data, args: ['--threads', '1'] });
  using visitor = new Gateway(gateway.url);
  const random = new SeededRandom(Math.floor(Math.random() * 2 ** 32));
  const ledger = new Ledger();
  const say = async (): Promise<void> => {
    const sizes = [400_000, ...Array.from({ length: 20 }, () => random.below(400))];
    const submissions = sizes.map((size) => ledger.newSubmission('garden', size, true));
    await Promise.all(submissions.map((submission) => ledger.submit(visitor, submission)));
  };
  await say();
  const start = performance.now();
  const { code: first } = await presence(['backup', at('timed'), '--data', data]);
  assert.equal(first, 0);
  const usualMs = performance.now() - start;
  await mkdir(backup);
  let [kept, interrupted] = [0, 0];
  for (let count = 0; count < 3 * BACKUPS; count += 1) {
    await say();
    const afterMs = random.below(Math.ceil(usualMs / 4));
    await presence(['backup', backup, '--data', data], { afterMs, changing: backup });
    if (existsSync(join(backup, 'log.sqlite'))) {
      const { code, stderr } = await presence(['verify', backup]);
      assert.ok(code === 0 || code === 2, stderr);
      if (code === 2) assert.match(stderr, /was interrupted/);
      if (code === 2) interrupted += 1;
      const salvaged = at(`salvaged-${count}`);
      const { report, faults } = await restore(backup, salvaged, { acceptFaults: true }).catch(
        (error: unknown) => noLogYet(error, kept),
      );
      assert.ok(report.head >= kept, `${report.head} of ${kept}`);
      const unexpected = faults.filter((fault) => Number(fault.split(':', 1)[0]) <= kept);
      assert.deepEqual(unexpected, []);
    }
    if (count % 3 < 2) continue;
    const { report, faults } = await backUp(data, backup);
    assert.deepEqual(faults, []);
    kept = report.head;
    assert.equal(kept, ledger.acknowledged.length);
    assert.equal((await presence(['verify', backup])).code, 0);
  }
  t.diagnostic(`${interrupted} of ${3 * BACKUPS} backups were interrupted`);
});

test('a backup that fills its disk keeps what it had', needs('to mount a disk'), async () => {
  await using disk = await smallDisk(4 * MIB);
  await using folders = await dataFolder();
  const [data, backup] = [join(folders.path, 'data'), disk.data];
  await using gateway = await startGatewayProcess({ data, args: ['--threads', '1'] });
  using visitor = new Gateway(gateway.url);
  const ledger = new Ledger();
  const say = async (size: number, keyed: boolean): Promise<void> =>
    void (await ledger.submit(visitor, ledger.newSubmission('garden', size, keyed))).expect(201);
  await say(1000, true);
  await backUp(data, backup);
  await disk.fill();
  for (const size of [60_000, 60_000, 300_000]) await say(size, true);
  const full = await presence(['backup', backup, '--data', data]);
  assert.equal(full.code, 2);
  assert.match(full.stderr, /full|ENOSPC|no space/i);
  const salvaged = join(folders.path, 'salvaged');
  const { report } = await restore(backup, salvaged, { acceptFaults: true });
  assert.ok(report.head >= 1);
  await disk.free();
  const { report: next, faults } = await backUp(data, backup);
  assert.deepEqual([next.head, faults], [4, []]);
  assert.equal((await presence(['verify', backup])).code, 0);
});

interface Load {
  readonly data: string;
  readonly ledger: Ledger;
  readonly random: SeededRandom;
  readonly end: AbortSignal;
  /** Called once an entry was acknowledged. */
  readonly first: () => void;
}

async function runAndKill({ data, ledger, random, end, first }: Load): Promise<void> {
  while (!end.aborted) {
    const gateway = await startGatewayProcess({ data });
    using visitor = new Gateway(gateway.url);
    const killed = new AbortController();
    const write = async (writer: number): Promise<void> => {
      while (!killed.signal.aborted) {
        const size = writer === 0 && random.chance(0.1) ? 200_000 : random.below(400);
        const submission = ledger.newSubmission('garden', size, random.chance(0.5));
        const answer = await ledger.submit(visitor, submission).catch(() => undefined);
        if (answer?.status === 201) {
          first();
          await pause(PAUSE_MS);
        } else if (!killed.signal.aborted) await pause(10);
      }
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    await pause(500 + random.below(1500 + 10 * PAUSE_MS));
    const ending = gateway.kill();
    killed.abort();
    await ending;
    await writing;
  }
}

/** The first backup may have been killed before it had the tables of a log. */
function noLogYet(error: unknown, kept: number): { report: { head: number }; faults: string[] } {
  if (kept > 0 || !/There is no log/.test(String(error))) throw error;
  return { report: { head: 0 }, faults: [] };
}

function idIn(own: string | undefined): string {
  return /"id":"([^"]*)"/.exec(own ?? '')?.[1] ?? '';
}
