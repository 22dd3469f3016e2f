/**
 * Faults against real clusters under load, in an order that a seed decides. `npm run cluster:faults --
 * ROUNDS [SEED]`, as root: machines are network namespaces. Each round does every fault once.
 */
import { randomInt } from 'node:crypto';
import { cp, lstat, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Cluster, startFaultCluster } from './cluster.ts';
import { FAULTS, type Fault } from './faults.ts';
import { Load } from './load.ts';

/** Acknowledged entries before a fault, and again after its end. */
const ENTRIES = 100;

const rounds = Number(process.argv[2] ?? 1);
const firstSeed = Number(process.argv[3] ?? randomInt(1_000_000));
for (let round = 0; round < rounds; round += 1) {
  const seed = firstSeed + round;
  console.log(`round ${round + 1} of ${rounds}, seed ${seed}`);
  await runRound(shuffled(FAULTS, seed));
}

/**
 * Throws where an acknowledged entry is missing or doubled, copies differ, or a reader was misled. Then
 * the folders of all machines, with the logs of the servers, are kept.
 */
async function runRound(faults: readonly Fault[]): Promise<void> {
  await using cluster = await startFaultCluster();
  const load = new Load(cluster);
  try {
    for (const fault of faults) await runFault(fault, cluster, load);
    const { entries, unanswered } = await load.check();
    console.log(`  ${entries} entries on every copy once, links equal; ${unanswered} unanswered`);
  } catch (error) {
    for (const gateway of cluster.gateways) console.error(gateway.output());
    await keepFolders(cluster);
    throw error;
  } finally {
    load.stop();
  }
}

/** The disks of the machines end with the round. */
async function keepFolders({ machines }: Cluster): Promise<void> {
  const kept = await mkdtemp(join(tmpdir(), 'presence-faults-'));
  const filter = async (path: string): Promise<boolean> => {
    const found = await lstat(path);
    return found.isFile() || found.isDirectory();
  };
  for (const { host, folders } of machines)
    for (const [disk, folder] of Object.entries(folders))
      await cp(folder, join(kept, `${disk}-${host}`), { recursive: true, filter });
  console.error(`What the machines had on their disks is in ${kept}`);
}

async function runFault({ name, begin }: Fault, cluster: Cluster, load: Load): Promise<void> {
  await load.untilMore(ENTRIES);
  load.gaps.clear();
  const end = await begin(cluster);
  await end();
  await load.untilMore(ENTRIES);
  const gaps = [...load.gaps].map(([what, ms]) => `${what} ${(ms / 1000).toFixed(1)} s`);
  console.log(`  ${name}: longest gaps: ${gaps.join(', ')}`);
}

/** Fisher and Yates, by a linear congruential generator. */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const result = [...items];
  let state = seed;
  for (let at = result.length - 1; at > 0; at -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (at + 1));
    const [one, two] = [result[at], result[other]];
    if (one !== undefined && two !== undefined) [result[at], result[other]] = [two, one];
  }
  return result;
}
