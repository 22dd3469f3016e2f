// Backups of a gateway that is killed again and again under load. Some of them are killed too.
// PRESENCE_BACKUPS makes more of them, PRESENCE_BACKUP_PAUSE_MS later ones.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { Gateway } from '../../conformance/gateway.ts';
import { assertSound, Ledger } from '../crash/ledger.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { SeededRandom } from '../seeded-random.ts';
import { restore } from './backup-folder.ts';

const BACKUPS = Number(process.env['PRESENCE_BACKUPS'] ?? 4);
const PAUSE_MS = Number(process.env['PRESENCE_BACKUP_PAUSE_MS'] ?? 200);
const COMMAND = join(import.meta.dirname, '../../packages/cli/presence.js');
const WRITERS = 16;

test('backups during kills under load have what was acknowledged before they began', async (t) => {
  await using folders = await dataFolder();
  const [data, backups] = [join(folders.path, 'data'), join(folders.path, 'backups')];
  const random = new SeededRandom(Math.floor(Math.random() * 2 ** 32));
  const ledger = new Ledger();
  const end = new AbortController();
  const first = Promise.withResolvers<void>();
  const load = runAndKill({ data, ledger, random, end: end.signal, first: () => first.resolve() });
  await Promise.race([first.promise, load]);
  const acknowledged = new Map<string, ReadonlySet<string>>();
  for (let count = 0; count < BACKUPS; count += 1) {
    const before = new Set(ledger.acknowledged.map(({ own }) => idIn(own)));
    const isKilled = count % 3 === 2;
    const { file } = await backUp(data, backups, isKilled ? 1 + random.below(1500) : undefined);
    if (file !== undefined) acknowledged.set(file, before);
    await pause(PAUSE_MS);
  }
  end.abort();
  await load;
  const files = (await readdir(backups)).filter((name) => name.endsWith('.backup'));
  for (const name of files) {
    const file = join(backups, name);
    const restored = join(folders.path, `restored-${name}`);
    const { report } = await restore(file, restored);
    await using gateway = await startGatewayProcess({ data: restored });
    using visitor = new Gateway(gateway.url);
    // Of a backup that was killed when it was complete, it is unknown what was acknowledged before.
    const entries = await ledger.asOf(acknowledged.get(file) ?? new Set()).compare(visitor);
    assert.equal(entries, report.head);
    await gateway.stop();
    await assertSound(restored, entries);
  }
  t.diagnostic(`${files.length} backups, ${ledger.acknowledged.length} entries acknowledged`);
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
        const size = writer === 0 ? 200_000 : random.below(400);
        const submission = ledger.newSubmission('garden', size, random.chance(0.5));
        const answer = await ledger.submit(visitor, submission).catch(() => undefined);
        if (answer?.status === 201) first();
        else if (!killed.signal.aborted) await pause(10);
      }
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    await pause(500 + random.below(1500));
    const ending = gateway.kill();
    killed.abort();
    await ending;
    await writing;
  }
}

/** The report of the command; empty where it was killed after `killedAfterMs`. */
async function backUp(
  data: string,
  folder: string,
  killedAfterMs: number | undefined,
): Promise<{ file?: string }> {
  const args = [COMMAND, 'backup', folder, '--data', data, '--json'];
  const options = { timeout: killedAfterMs ?? 0, killSignal: 'SIGKILL' } as const;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    const report: unknown = JSON.parse(stdout);
    assert.ok(typeof report === 'object' && report !== null && 'file' in report);
    return { file: String(report.file) };
  } catch (error) {
    if (killedAfterMs === undefined) throw error;
    return {};
  }
}

function idIn(own: string | undefined): string {
  return /"id":"([^"]*)"/.exec(own ?? '')?.[1] ?? '';
}
