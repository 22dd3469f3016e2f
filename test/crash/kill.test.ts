// A gateway is killed at any moment, again and again, and holds what it acknowledged.
// PRESENCE_CRASHES makes it more often.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Gateway } from '../../conformance/gateway.ts';
import { Dice } from '../oracle/dice.ts';
import { dataFolder, startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';
import { assertSound, Ledger, type Saying } from './ledger.ts';

const CRASHES = Number(process.env['PRESENCE_CRASHES'] ?? 20);
/** With more of them, a log grows so large that reading it takes most of the time. */
const CRASHES_OF_ONE_LOG = 20;
const WRITERS = 32;

for (let from = 0; from < CRASHES; from += CRASHES_OF_ONE_LOG) {
  const crashes = Math.min(CRASHES_OF_ONE_LOG, CRASHES - from);
  test(`what was acknowledged outlives crashes ${from + 1} to ${from + crashes}`, async (t) => {
    const dice = new Dice(Math.floor(Math.random() * 2 ** 32));
    const ledger = new Ledger();
    const starts: number[] = [];
    await using folder = await dataFolder();
    for (let crash = 0; crash < crashes; crash += 1) {
      if (dice.chance(0.25)) {
        await killDuringStart(folder.path, dice.throw() * 1.2 * (starts.at(-1) ?? 1000));
      }
      const spawned = performance.now();
      await using gateway = await startGatewayProcess({ data: folder.path });
      using visitor = new Gateway(gateway.url);
      (await visitor.get('/api')).expect(200);
      starts.push(performance.now() - spawned);
      await sound(ledger, visitor, folder.path);
      await crashUnderLoad({ gateway, visitor, ledger, dice });
    }
    await using gateway = await startGatewayProcess({ data: folder.path });
    using visitor = new Gateway(gateway.url);
    await sound(ledger, visitor, folder.path);
    await sayAgain(ledger, visitor);
    const entries = await sound(ledger, visitor, folder.path);
    for (const saying of dice.some(ledger.acknowledged, 200)) await ledger.read(visitor, saying);
    await gateway.kill();
    await assertSound(folder.path, entries);
    t.diagnostic(
      `${crashes} crashes, ${entries} entries, ${ledger.acknowledged.length} acknowledged`,
    );
    starts.sort((a, b) => a - b);
    const [shortest = 0, longest = 0] = [starts[0], starts.at(-1)];
    t.diagnostic(`from spawn to first answer: ${shortest.toFixed()} to ${longest.toFixed()} ms`);
  });
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
  readonly dice: Dice;
}

async function crashUnderLoad({ gateway, visitor, ledger, dice }: Scene): Promise<void> {
  const seeds = Array.from({ length: WRITERS }, () => dice.below(2 ** 32));
  const killed = new AbortController();
  const enough = dice.chance(0.3) ? 0 : dice.below(200);
  const reached = Promise.withResolvers<void>();
  let acknowledged = 0;
  const unlessKilled = async (saying: Saying): Promise<void> => {
    try {
      (await ledger.say(visitor, saying)).expect(201);
      acknowledged += 1;
      if (acknowledged >= enough) reached.resolve();
    } catch (error) {
      if (!killed.signal.aborted) throw error;
    }
  };
  const writing = seeds.map(async (seed, writer) => {
    const own = new Dice(seed);
    const again = ledger.unsettled.filter((_, at) => at % WRITERS === writer);
    const known = ledger.acknowledged.filter(({ key }) => key !== undefined);
    if (known.length > 0) again.push(...own.some(known, 3));
    for (const saying of again) await unlessKilled(saying);
    while (!killed.signal.aborted) await unlessKilled(something(ledger, own, writer));
  });
  const load = Promise.all(writing);
  load.catch(() => {});
  if (enough > 0) await Promise.race([load, reached.promise]);
  await pause(dice.below(20));
  killed.abort();
  const ending = await gateway.kill();
  assert.equal(ending.signal, 'SIGKILL', gateway.output());
  await load;
}

/** Mostly small. One of the writers says large things only. */
function something(ledger: Ledger, dice: Dice, writer: number): Saying {
  const keyed = dice.chance(0.5);
  if (writer === 0) {
    return ledger.new('garden', dice.chance(0.1) ? 3_000_000 : 200_000, keyed);
  }
  if (dice.chance(0.1)) return ledger.new('resonance', 10, keyed);
  return ledger.new(dice.chance(0.5) ? 'garden' : 'seeds', dice.below(400), keyed);
}

async function sayAgain(ledger: Ledger, visitor: Gateway): Promise<void> {
  const keyed = ledger.acknowledged.filter(({ key }) => key !== undefined);
  for (const saying of [...keyed.slice(-100), ...ledger.unsettled]) {
    (await ledger.say(visitor, saying)).expect(201);
  }
}

/** Kills a gateway so long after it was spawned, perhaps before it answers. */
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
