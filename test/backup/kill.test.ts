// Backups of a gateway that is killed again and again under load. Every second one of them is killed too.
// PRESENCE_BACKUPS makes more of them, PRESENCE_BACKUP_PAUSE_MS a slower load: with 360 and 2000, all
// of them take less than an hour.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
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
  let kept = new Set<string>();
  let complete = 0;
  for (let count = 0; count < BACKUPS; count += 1) {
    const acknowledged = new Set(ledger.acknowledged.map(({ own }) => idIn(own)));
    const isKilled = count % 2 === 1;
    const killing = isKilled ? { afterMs: 1 + random.below(BACKUP_MS) } : {};
    const { code, stderr } = await presence(['backup', backup, '--data', data], killing);
    if (!isKilled) assert.equal(code, 0, stderr);
    if (code === 0) {
      kept = acknowledged;
      complete += 1;
    }
    await assertBackup(backup, join(folders.path, 'restored'), ledger.asOf(kept));
    await pause(200);
  }
  end.abort();
  await load;
  t.diagnostic(`${complete} backups, ${ledger.acknowledged.length} entries acknowledged`);
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

test('a backup that fills its disk leaves the one before', needs('to mount a disk'), async () => {
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
  assert.equal((await presence(['verify', backup])).code, 0);
  assert.equal((await restore(backup, join(folders.path, 'restored'))).report.head, 1);
  await disk.free();
  const { report, faults } = await backUp(data, backup);
  assert.deepEqual([report.head, faults], [4, []]);
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

function idIn(own: string | undefined): string {
  return /"id":"([^"]*)"/.exec(own ?? '')?.[1] ?? '';
}
