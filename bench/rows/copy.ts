/** Export of a log and import into an empty folder, beside `sqlite3` with the same database. */
import { closeSync, createReadStream, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';

import type { BenchContext } from '../options.ts';
import { emptyFolder, seededFolder } from '../data/data-folder.ts';
import { cpuOf } from '../measure/cpu.ts';
import { alternate } from '../measure/rounds.ts';
import { rssOf } from '../measure/rss.ts';
import { atLeast, information, mebibytes, memory, type ResultLine } from '../measure/table.ts';
import { startProcess } from '../processes/child-process.ts';
import { pathOf } from '../processes/external-tools.ts';

const COMMAND = fileURLToPath(import.meta.resolve('../../packages/cli/presence.js'));
const MAX_MEMORY = { bytes: 400 * 2 ** 20, text: '400 MiB' };
const SAMPLE_MS = 50;

interface Usage {
  seconds: number;
  /** As of the last sample. */
  cpu: number;
  rss: number;
}

export async function copy(bench: BenchContext): Promise<ResultLine[]> {
  const count = bench.quick ? 50_000 : 1_000_000;
  const origin = await seededFolder(bench, count);
  await using folder = await emptyFolder(bench);
  const at = (name: string): string => join(folder.path, name);
  const usage = new Map<string, Usage>();
  const rate = async (name: string, command: readonly string[], output = ''): Promise<number> => {
    const used = await run(bench, command, output);
    const before = usage.get(name);
    usage.set(name, { ...used, rss: Math.max(used.rss, before?.rss ?? 0) });
    return count / used.seconds;
  };
  const presence = [process.execPath, COMMAND];
  const sqlite = pathOf('sqlite3');
  const rounds = bench.quick ? 1 : 3;
  bench.note('export');
  const exported = await alternate(rounds, {
    ours: () => rate('export', [...presence, 'export', '--data', origin, at('log')]),
    peer: () => rate('.dump', [sqlite, join(origin, 'log.sqlite'), '.dump'], at('dump.sql')),
  });
  bench.note('import');
  const imported = await alternate(rounds, {
    async ours() {
      await rm(at('copy'), { recursive: true, force: true });
      return await rate('import', [...presence, 'import', at('log'), '--data', at('copy')]);
    },
    async peer() {
      await rm(at('new.sqlite'), { force: true });
      return await rate('.read', [sqlite, at('new.sqlite'), `.read '${at('dump.sql')}'`]);
    },
  });
  await run(bench, [...presence, 'export', '--data', at('copy'), at('again')], '');
  if ((await digestOf(at('again'))) !== (await digestOf(at('log'))))
    throw new Error('The export of the copy differs');
  const cpu = (name: string): string => `${usage.get(name)?.cpu.toFixed(1)} s`;
  return [
    atLeast('export, beside .dump', exported, 'entries/s', 1),
    atLeast('import, beside .read', imported, 'entries/s', 1),
    information('CPU time of an export', cpu('export'), cpu('.dump')),
    information('CPU time of an import', cpu('import'), cpu('.read')),
    memory('memory of an export', usage.get('export')?.rss ?? 0, MAX_MEMORY),
    memory('memory of an import', usage.get('import')?.rss ?? 0, MAX_MEMORY),
    information('memory of .dump', mebibytes(usage.get('.dump')?.rss ?? 0)),
  ];
}

/** `output`: a file for the standard output. */
async function run(
  bench: BenchContext,
  command: readonly string[],
  output: string,
): Promise<Usage> {
  const stdout = output === '' ? 'ignore' : openSync(output, 'w');
  const startedAt = performance.now();
  await using child = await startProcess(bench, command, ['ignore', stdout, 'inherit']);
  const usage = { seconds: 0, cpu: 0, rss: 0 };
  const timer = setInterval(() => {
    if (child.exitStatus() !== undefined) return;
    usage.cpu = cpuOf(child.pid);
    // A process that is ending has no memory any more.
    usage.rss = Math.max(usage.rss, rssOf(child.pid).all || 0);
  }, SAMPLE_MS);
  if (child.exitStatus() === undefined) await once(child.process, 'exit');
  clearInterval(timer);
  usage.seconds = (performance.now() - startedAt) / 1000;
  if (typeof stdout === 'number') closeSync(stdout);
  if (child.exitStatus() !== '0')
    throw new Error(`"${command.join(' ')}" ended with ${child.exitStatus()}`);
  return usage;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
