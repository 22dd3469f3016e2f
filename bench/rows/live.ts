/** CPU time per event delivered to one of 2,000 subscribers, beside nginx with nchan. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { startSubscribers, type SubscriberGroup } from '../clients/subscriber-group.ts';
import type { BenchContext } from '../options.ts';
import { cpuOf } from '../measure/cpu.ts';
import { emptyFolder } from '../data/data-folder.ts';
import { gardenEntries } from '../data/garden-entries.ts';
import { startGateway } from '../processes/gateway.ts';
import { sendRequest } from '../clients/http.ts';
import { startNchan } from '../peers/peer.ts';
import { alternate, type Rounds } from '../measure/rounds.ts';
import { atMostTime, information, type ResultLine } from '../measure/table.ts';

/** One event at a time, and in bursts. */
const [TARGET, BURST_TARGET] = [0.8, 0.05];
const SUBSCRIBERS = 2000;
const EVERY_MS = 50;
const BURST = 100;
const BURST_CONNECTIONS = 10;

/** The gateway or its peer, with subscribers. */
interface Server {
  readonly pid: number;
  readonly subscribers: SubscriberGroup;
  /** Posts entries as fast as possible. */
  post(agent: Agent, entries: number): Promise<void>;
  /** The number of entries posted so far. */
  posted(): number;
}

export async function live(bench: BenchContext): Promise<ResultLine[]> {
  await using data = await emptyFolder(bench);
  await using files = await emptyFolder(bench);
  await using gateway = await startGateway(bench, data.path, '--threads', '1');
  await using nchan = await startNchan(bench, files.path);
  await using ourSubscribers = await startSubscribers(
    bench,
    `${gateway.url}/api/events`,
    SUBSCRIBERS,
  );
  await using peerSubscribers = await startSubscribers(bench, `${nchan.url}/events`, SUBSCRIBERS);
  const ours = serverOf(gateway.pid, `${gateway.url}/api/garden`, ourSubscribers);
  const peer = serverOf(nchan.pid, `${nchan.url}/post`, peerSubscribers);
  const compare = async (act: (server: Server) => Promise<void>): Promise<Rounds> => {
    await act(peer);
    await act(ours);
    return await alternate(bench.quick ? 3 : 5, {
      ours: () => costOf(ours, act),
      peer: () => costOf(peer, act),
    });
  };
  bench.note(`events one at a time to ${SUBSCRIBERS} subscribers`);
  const single = await compare((server) => postSingly(bench, server, bench.quick ? 20 : 60));
  bench.note(`events in bursts to ${SUBSCRIBERS} subscribers`);
  const burst = await compare((server) => postBursts(server, bench.quick ? 2 : 5));
  return [
    atMostTime('CPU time of a delivered event, 2,000 subscribers', single, 'µs', TARGET),
    atMostTime(`  the same in bursts of ${BURST}`, burst, 'µs', BURST_TARGET),
    information('  events that each of them got, once', `${ours.posted()}`, `${peer.posted()}`),
  ];
}

function serverOf(pid: number, url: string, subscribers: SubscriberGroup): Server {
  const next = gardenEntries();
  let posted = 0;
  const postOne = async (agent: Agent): Promise<void> => {
    posted += 1;
    const { status, text } = await sendRequest(url, { agent, body: JSON.stringify(next()) });
    if (status !== 201) throw new Error(`Cannot post an entry at ${url}: got ${status} ${text}`);
  };
  return {
    pid,
    subscribers,
    posted: () => posted,
    async post(agent, entries) {
      await Promise.all(Array.from({ length: entries }, () => postOne(agent)));
    },
  };
}

/** CPU time per delivered event in µs. */
async function costOf(server: Server, act: (server: Server) => Promise<void>): Promise<number> {
  const [before, postedBefore] = [cpuOf(server.pid), server.posted()];
  await act(server);
  const delivered = (server.posted() - postedBefore) * SUBSCRIBERS;
  return ((cpuOf(server.pid) - before) * 1e6) / delivered;
}

/** Posts the next entry when all subscribers have the previous one, and not before its time. */
async function postSingly(bench: BenchContext, server: Server, entries: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  let due = performance.now();
  for (let count = 0; count < entries; count += 1) {
    await server.post(agent, 1);
    await server.subscribers.waitForEntries(server.posted());
    due += EVERY_MS;
    await sleep(Math.max(0, due - performance.now()), undefined, { signal: bench.signal });
  }
  agent.destroy();
}

async function postBursts(server: Server, bursts: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: BURST_CONNECTIONS });
  for (let count = 0; count < bursts; count += 1) {
    await server.post(agent, BURST);
    await server.subscribers.waitForEntries(server.posted());
  }
  agent.destroy();
}
