/** `node test/cluster/simulation/main.ts COUNT [SEED]`: simulates a cluster with this number of seeds. */
import { simulate } from './simulation.ts';

const [count = '10000', first = '1'] = process.argv.slice(2);
const last = Number(first) + Number(count) - 1;
const failed: number[] = [];
const happened = new Map<string, number>();
for (let seed = Number(first); seed <= last; seed += 1) {
  try {
    for (const [name, count] of Object.entries(await simulate(seed)))
      happened.set(name, (happened.get(name) ?? 0) + count);
  } catch (error) {
    failed.push(seed);
    console.error(`Seed ${seed}:`, error);
  }
  if (seed % 100 === 0 || seed === last) console.log(`Up to ${seed}: ${failed.length} failed.`);
}
console.log(Object.fromEntries(happened));
process.exitCode = failed.length === 0 ? 0 : 1;
