/**
 * A cluster in one process, in virtual time: the gateways' own code for publishing and applying, over a
 * stream that loses, delays, repeats and reorders what goes to it and its answers, and gateways that
 * lose their connection, and crash between any two steps. In the end, one copy is made from nothing, and one
 * from a backup of any of them. What happens follows from a seed.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';

import { draftOf } from '../../../packages/gateway/src/log/log.fixture.ts';
import { dataPathsIn } from '../../../packages/gateway/src/store/data-paths.ts';
import { backUp, restore } from '../../backup/backup-folder.ts';
import { SeededRandom } from '../../seeded-random.ts';
import { type Attempt, type Coverage, judge } from './judge.ts';
import type { Fault } from './faults.ts';
import { SimulatedGateway } from './simulated-gateway.ts';
import { SimulatedStream } from './simulated-stream.ts';

const START = 1_700_000_000_000;
const GATEWAYS = 3;
const STEPS = 100;
const MAX_STEP_MS = 300;
/** How long everything may stand still while messages are on their way: longer than publishers are remembered. */
const MAX_LEAP_MS = 4 * 86_400_000;
/** Until everything that goes on has come to its end. */
const MAX_LAST_STEPS = 200;
const LAST_STEP_MS = 1000;
/** Longer than a message can be late. */
const REST_STEPS = 25;
/** Bytes of a large body. */
const [MIN_LARGE, MAX_LARGE] = [300_000, 1_200_000];
/** What is waited for between two moments. */
const IN_WORK: ReadonlySet<string> = new Set([
  'FSReqPromise',
  'FSReqCallback',
  'CloseReq',
  'Immediate',
]);
/** Events that are due within this time happen together. */
const TICK_MS = 10;
const LAST_TICK_MS = 100;

type SimulationCoverage = Coverage & { readonly restoredCopies: number };

/**
 * Throws an `AssertionError` where something is wrong in the end. Resolves with how often things happened.
 * `fault`: of the first gateway.
 */
export async function simulate(seed: number, fault?: Fault): Promise<SimulationCoverage> {
  const folder = mkdtempSync(join(tmpdir(), 'presence-'));
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: START });
  syncBuiltinESMExports();
  const simulation = new Simulation(seed, folder, fault);
  try {
    return await simulation.run();
  } finally {
    simulation.end();
    // What waited is over before its timers are.
    await settle();
    mock.timers.reset();
    syncBuiltinESMExports();
    rmSync(folder, { recursive: true });
  }
}

class Simulation {
  readonly #random: SeededRandom;
  readonly #stream: SimulatedStream;
  readonly #gateways: readonly SimulatedGateway[];
  readonly #attempts: Attempt[] = [];
  readonly #withheld: number[] = [];
  readonly #folder: string;
  readonly #backups: string;
  /**
   * Entries whose files the backup lacks. Only what is withheld may be so: its upload is erased from the
   * stream, and a gateway that comes late has the entry before it learns why.
   */
  readonly #faulty: number[] = [];
  /** The folder of a backup that a copy can be made from; undefined if there is none. */
  #backup: string | undefined;

  constructor(seed: number, folder: string, fault: Fault | undefined) {
    this.#random = new SeededRandom(seed);
    this.#folder = folder;
    this.#backups = join(folder, 'backups');
    this.#stream = new SimulatedStream(this.#random.fork());
    this.#gateways = Array.from({ length: GATEWAYS }, (_, index) => {
      const own = index === 0 ? fault : undefined;
      const random = this.#random.fork();
      return new SimulatedGateway(join(folder, String(index)), this.#stream, random, own);
    });
  }

  async run(): Promise<SimulationCoverage> {
    const backupStep = this.#random.below(STEPS);
    for (let step = 0; step < STEPS; step += 1) {
      this.#act(this.#random.below(GATEWAYS));
      if (step === backupStep) await this.#backUp(this.#random.below(GATEWAYS));
      await pass(this.#random.below(MAX_STEP_MS), TICK_MS);
      if (this.#random.chance(0.01)) mock.timers.tick(this.#random.below(MAX_LEAP_MS));
    }
    await this.#finish(this.#gateways);
    // A chunk that came late is given up with the next message of its gateway.
    for (const [index, gateway] of this.#gateways.entries()) this.#append(gateway, index);
    await this.#finish(this.#gateways);
    assert.deepEqual(
      this.#faulty.filter((seq) => !this.#withheld.includes(seq)),
      [],
      'the backup has faults',
    );
    // What is erased by now is not needed to make another copy.
    const late = [this.#further('late')];
    if (this.#backup !== undefined) {
      await restore(this.#backup, join(this.#folder, 'restored'), { asCopy: true });
      late.push(this.#further('restored'));
    }
    const all = [...this.#gateways, ...late];
    await this.#finish(all);
    const copies = all.map((gateway) => ({
      entries: gateway.entries(),
      publishers: gateway.publishers(),
    }));
    for (const gateway of late) gateway.crash();
    const { messages } = this.#stream;
    const coverage = judge({
      messages,
      attempts: this.#attempts,
      withheld: this.#withheld,
      copies,
    });
    return { ...coverage, restoredCopies: this.#backup === undefined ? 0 : 1 };
  }

  end(): void {
    for (const gateway of this.#gateways) gateway.crash();
  }

  #further(name: string): SimulatedGateway {
    const folder = join(this.#folder, name);
    return new SimulatedGateway(folder, this.#stream, this.#random.fork(), undefined);
  }

  /** Of the folder of a gateway, whether it runs or not. */
  async #backUp(index: number): Promise<void> {
    const data = join(this.#folder, String(index));
    if (!existsSync(dataPathsIn(data).log)) return;
    const { report, faults } = await backUp(data, this.#backups);
    this.#faulty.push(...faults.map((fault) => Number.parseInt(fault, 10)));
    if (report.isCopy && faults.length === 0) this.#backup = report.folder;
  }

  #act(index: number): void {
    const gateway = this.#gateways[index];
    if (gateway === undefined) return;
    if (!gateway.isRunning) {
      gateway.start();
      return;
    }
    const chance = this.#random.next();
    if (chance < 0.35) this.#append(gateway, index);
    else if (chance < 0.4) gateway.withhold((seq) => this.#withheld.push(seq));
    else if (chance < 0.88)
      for (let count = this.#random.below(8); count > 0; count -= 1) gateway.deliver();
    else if (chance < 0.93) gateway.isConnected = !gateway.isConnected;
    else gateway.crash();
  }

  /** A new draft, or a repeated one whose first outcome nobody knows. */
  #append(gateway: SimulatedGateway, index: number): void {
    const unknown = this.#attempts.filter(({ isKeyed, result }) => isKeyed && !result);
    const repeated = this.#random.chance(0.3)
      ? unknown[this.#random.below(unknown.length)]
      : undefined;
    const isKeyed = repeated !== undefined || this.#random.chance(0.4);
    const text = repeated?.text ?? `text${this.#attempts.length}`;
    const isLarge = repeated?.isLarge ?? this.#random.chance(0.05);
    const attempt: Attempt = { text, isKeyed, isLarge, gateway: index, result: undefined };
    this.#attempts.push(attempt);
    const body = `"text":"${text}"${isLarge ? `,"padding":"${paddingOf(text)}"` : ''}`;
    const draft = draftOf({ body, ...(isKeyed ? { key: text } : {}) });
    gateway.append(draft, (result) => {
      attempt.result = result;
    });
  }

  /** Nothing is lost any more: every client that still waits is answered, and every copy has all. */
  async #finish(gateways: readonly SimulatedGateway[]): Promise<void> {
    this.#stream.isReliable = true;
    let rest = 0;
    for (let step = 0; step < MAX_LAST_STEPS && rest < REST_STEPS; step += 1) {
      for (const gateway of gateways) {
        if (!gateway.isRunning) gateway.start();
        gateway.isConnected = true;
        while (!gateway.hasAll) gateway.deliver();
      }
      await pass(LAST_STEP_MS, LAST_TICK_MS);
      rest = gateways.every((gateway) => gateway.isIdle) ? rest + 1 : 0;
    }
    assert.equal(rest, REST_STEPS, 'the cluster does not come to rest');
  }
}

/** The same for the same text. */
function paddingOf(text: string): string {
  const size = new SeededRandom(Number(text.slice(4))).below(MAX_LARGE - MIN_LARGE);
  return 'x'.repeat(MIN_LARGE + size);
}

/** Lets time pass, and whatever waits for it, or for a file, happen. */
async function pass(ms: number, tickMs: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += tickMs) {
    mock.timers.tick(tickMs);
    await settle();
  }
}

async function settle(): Promise<void> {
  do await nextTick();
  while (process.getActiveResourcesInfo().some((resource) => IN_WORK.has(resource)));
}
