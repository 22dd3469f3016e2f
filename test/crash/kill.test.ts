// A gateway is killed at any moment, again and again, and holds what it acknowledged.
// PRESENCE_CRASHES makes it more often.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Gateway } from '../../conformance/gateway.ts';
import { SeededRandom } from '../seeded-random.ts';
import { dataFolder, startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';
import { assertSound, Ledger, type Submission } from './ledger.ts';
import { needs } from '../needs.ts';

const CRASHES = Number(process.env['PRESENCE_CRASHES'] ?? 20);
/** With more of them, a log grows so large that reading it takes most of the time. */
const CRASHES_OF_ONE_LOG = 20;
const WRITERS = 32;

for (let from = 0; from < CRASHES; from += CRASHES_OF_ONE_LOG) {
  const crashes = Math.min(CRASHES_OF_ONE_LOG, CRASHES - from);
  test(
    `what was acknowledged outlives crashes ${from + 1} to ${from + crashes}`,
    needs('timeout', 'setpriv'),
    async (t) => {
      const random = new SeededRandom(Math.floor(Math.random() * 2 ** 32));
      const ledger = new Ledger();
      const starts: number[] = [];
      await using folder = await dataFolder();
      for (let crash = 0; crash < crashes; crash += 1) {
        if (random.chance(0.25)) {
          await killDuringStart(folder.path, random.next() * 1.2 * (starts.at(-1) ?? 1000));
        }
        const spawned = performance.now();
        await using gateway = await startGatewayProcess({ data: folder.path });
        using visitor = new Gateway(gateway.url);
        (await visitor.get('/api')).expect(200);
        starts.push(performance.now() - spawned);
        await sound(ledger, visitor, folder.path);
        await crashUnderLoad({ gateway, visitor, ledger, random });
      }
      await using gateway = await startGatewayProcess({ data: folder.path });
      using visitor = new Gateway(gateway.url);
      await sound(ledger, visitor, folder.path);
      await sayAgain(ledger, visitor);
      const entries = await sound(ledger, visitor, folder.path);
      for (const submission of random.some(ledger.acknowledged, 200))
        await ledger.read(visitor, submission);
      await gateway.kill();
      await assertSound(folder.path, entries);
      t.diagnostic(
        `${crashes} crashes, ${entries} entries, ${ledger.acknowledged.length} acknowledged`,
      );
      starts.sort((a, b) => a - b);
      const [shortest = 0, longest = 0] = [starts[0], starts.at(-1)];
      t.diagnostic(`from spawn to first answer: ${shortest.toFixed()} to ${longest.toFixed()} ms`);
    },
  );
}

/** Everything is there, and nothing else. Returns how many entries there are. */
async function sound(ledger: Ledger, visitor: Gateway, data: string): Promise<number> {
  const entries = await ledger.compare(visitor);
  await assertSound(data, entries);
  return entries;
}

interface Scene {
  readonly gateway: GatewayProcess;
  readonly visitor: Gateway;
  readonly ledger: Ledger;
  readonly random: SeededRandom;
}

async function crashUnderLoad({ gateway, visitor, ledger, random }: Scene): Promise<void> {
  const seeds = Array.from({ length: WRITERS }, () => random.below(2 ** 32));
  const killed = new AbortController();
  const enough = random.chance(0.3) ? 0 : random.below(200);
  const reached = Promise.withResolvers<void>();
  let acknowledged = 0;
  const unlessKilled = async (submission: Submission): Promise<void> => {
    try {
      (await ledger.submit(visitor, submission)).expect(201);
      acknowledged += 1;
      if (acknowledged >= enough) reached.resolve();
    } catch (error) {
      if (!killed.signal.aborted) throw error;
    }
  };
  const writing = seeds.map(async (seed, writer) => {
    const own = new SeededRandom(seed);
    const again = ledger.unanswered.filter((_, at) => at % WRITERS === writer);
    const known = ledger.acknowledged.filter(({ key }) => key !== undefined);
    if (known.length > 0) again.push(...own.some(known, 3));
    for (const submission of again) await unlessKilled(submission);
    while (!killed.signal.aborted) await unlessKilled(something(ledger, own, writer));
  });
  const load = Promise.all(writing);
  load.catch(() => {});
  if (enough > 0) await Promise.race([load, reached.promise]);
  await pause(random.below(20));
  killed.abort();
  const ending = await gateway.kill();
  assert.equal(ending.signal, 'SIGKILL', gateway.output());
  await load;
}

/** Mostly small. One of the writers says large things only. */
function something(ledger: Ledger, random: SeededRandom, writer: number): Submission {
  const keyed = random.chance(0.5);
  if (writer === 0) {
    return ledger.newSubmission('garden', random.chance(0.1) ? 3_000_000 : 200_000, keyed);
  }
  if (random.chance(0.1)) return ledger.newSubmission('resonance', 10, keyed);
  return ledger.newSubmission(random.chance(0.5) ? 'garden' : 'seeds', random.below(400), keyed);
}

async function sayAgain(ledger: Ledger, visitor: Gateway): Promise<void> {
  const keyed = ledger.acknowledged.filter(({ key }) => key !== undefined);
  for (const submission of [...keyed.slice(-100), ...ledger.unanswered]) {
    (await ledger.submit(visitor, submission)).expect(201);
  }
}

/** Kills a gateway this long after it was spawned, perhaps before it answers. */
async function killDuringStart(data: string, afterMs: number): Promise<void> {
  const seconds = (0.001 * Math.max(1, afterMs)).toFixed(3);
  const under = ['timeout', '--signal=KILL', seconds, 'setpriv', '--pdeathsig=KILL'];
  try {
    await using gateway = await startGatewayProcess({ data, under });
    assert.equal((await gateway.ended).signal, 'SIGKILL');
  } catch (error) {
    // Before it told its address.
    if (!(error instanceof Error && error.message.includes('ended with SIGKILL'))) throw error;
  }
}
