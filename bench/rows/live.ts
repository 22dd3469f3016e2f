/** CPU time of a live event delivered to one of 2,000 subscribers, beside nginx with nchan. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { gather, type Audience } from '../audience.ts';
import type { Bench } from '../bench.ts';
import { cpuOf } from '../cpu.ts';
import { emptyFolder } from '../folders.ts';
import { gardener } from '../garden.ts';
import { startGateway } from '../gateway.ts';
import { ask } from '../http.ts';
import { startNchan } from '../peers/peer.ts';
import { takeTurns, type Rounds } from '../rounds.ts';
import { atMostTime, fact, type Line } from '../table.ts';

const TARGET = 0.6;
const SUBSCRIBERS = 2000;
const EVERY_MS = 50;
const BURST = 100;
const BURST_CONNECTIONS = 10;

/** One server with its subscribers. */
interface Scene {
  readonly pid: number;
  readonly audience: Audience;
  /** Leaves so many entries, as fast as possible. */
  leave(agent: Agent, entries: number): Promise<void>;
  /** How many were left by now. */
  left(): number;
}

export async function live(bench: Bench): Promise<Line[]> {
  await using data = await emptyFolder(bench);
  await using files = await emptyFolder(bench);
  await using gateway = await startGateway(bench, data.path, '--threads', '1');
  await using nchan = await startNchan(bench, files.path);
  await using ourAudience = await gather(bench, `${gateway.url}/api/events`, SUBSCRIBERS);
  await using itsAudience = await gather(bench, `${nchan.url}/events`, SUBSCRIBERS);
  const ours = sceneOf(gateway.pid, `${gateway.url}/api/garden`, ourAudience);
  const peer = sceneOf(nchan.pid, `${nchan.url}/post`, itsAudience);
  const compare = async (act: (scene: Scene) => Promise<void>): Promise<Rounds> => {
    await act(peer);
    await act(ours);
    return await takeTurns(bench.quick ? 3 : 5, {
      ours: () => costOf(ours, act),
      peer: () => costOf(peer, act),
    });
  };
  bench.note(`events one at a time to ${SUBSCRIBERS} subscribers`);
  const single = await compare((scene) => singly(bench, scene, bench.quick ? 20 : 60));
  bench.note(`events in bursts to ${SUBSCRIBERS} subscribers`);
  const burst = await compare((scene) => inBursts(scene, bench.quick ? 2 : 5));
  return [
    atMostTime('CPU time of a delivered event, 2,000 subscribers', single, 'µs', TARGET),
    atMostTime(`  the same in bursts of ${BURST}`, burst, 'µs', TARGET),
    fact('  events that each of them got, once', `${ours.left()}`, `${peer.left()}`),
  ];
}

function sceneOf(pid: number, url: string, audience: Audience): Scene {
  const next = gardener();
  let left = 0;
  const leaveOne = async (agent: Agent): Promise<void> => {
    left += 1;
    const { status, text } = await ask(url, { agent, body: JSON.stringify(next()) });
    if (status !== 201) throw new Error(`Cannot leave an entry at ${url}: got ${status} ${text}`);
  };
  return {
    pid,
    audience,
    left: () => left,
    async leave(agent, entries) {
      await Promise.all(Array.from({ length: entries }, () => leaveOne(agent)));
    },
  };
}

/** µs of CPU time for each event that a subscriber got. */
async function costOf(scene: Scene, act: (scene: Scene) => Promise<void>): Promise<number> {
  const [before, leftBefore] = [cpuOf(scene.pid), scene.left()];
  await act(scene);
  const delivered = (scene.left() - leftBefore) * SUBSCRIBERS;
  return ((cpuOf(scene.pid) - before) * 1e6) / delivered;
}

/** The next is left when all have the one before, and no sooner than its time. */
async function singly(bench: Bench, scene: Scene, entries: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  let due = performance.now();
  for (let count = 0; count < entries; count += 1) {
    await scene.leave(agent, 1);
    await scene.audience.hasAll(scene.left());
    due += EVERY_MS;
    await sleep(Math.max(0, due - performance.now()), undefined, { signal: bench.signal });
  }
  agent.destroy();
}

async function inBursts(scene: Scene, bursts: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: BURST_CONNECTIONS });
  for (let count = 0; count < bursts; count += 1) {
    await scene.leave(agent, BURST);
    await scene.audience.hasAll(scene.left());
  }
  agent.destroy();
}
