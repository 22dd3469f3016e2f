/** What is done to a cluster. */
import { setTimeout as pause } from 'node:timers/promises';

import { until } from '../../../conformance/until.ts';
import type { NatsServer } from '../nats-servers.ts';
import type { Cluster } from './cluster.ts';

export interface Fault {
  readonly name: string;
  /** Resolves, when the fault has lasted, with what ends it. */
  readonly begin: (cluster: Cluster) => Promise<() => Promise<void>>;
}

/** Longer than it takes to elect a leader. */
const LASTS_MS = 12_000;
/** Longer than connections are kept without an answer. */
const PAUSED_MS = 30_000;

export const FAULTS: readonly Fault[] = [
  { name: 'a server is killed', begin: killServers(async () => [2]) },
  {
    name: 'the leader is killed',
    begin: killServers(async (cluster) => [await leaderOf(cluster)]),
  },
  { name: 'two servers are killed', begin: killServers(async () => [0, 1]) },
  { name: 'all servers are killed', begin: killServers(async () => [0, 1, 2]) },
  {
    name: 'the leader is paused',
    begin: pauseProcesses(async (cluster) => [
      cluster.nats.servers[await leaderOf(cluster)]?.pid ?? 0,
    ]),
  },
  {
    name: 'a gateway is paused',
    begin: pauseProcesses(async ({ gateways }) => [gateways[1]?.pid ?? 0]),
  },
  {
    name: 'a whole machine is paused',
    begin: pauseProcesses(async ({ gateways, nats }) => [
      gateways[2]?.pid ?? 0,
      nats.servers[2]?.pid ?? 0,
    ]),
  },
  { name: 'a gateway is killed', begin: killGateways([1]) },
  { name: 'all gateways are killed', begin: killGateways([0, 1, 2]) },
  {
    name: 'everything is killed',
    async begin(cluster) {
      const endGateways = await killGateways([0, 1, 2])(cluster);
      const endServers = await killServers(async () => [0, 1, 2])(cluster);
      return async () => {
        await endServers();
        await endGateways();
      };
    },
  },
  {
    name: 'the machine of the leader is cut off',
    begin: separate(async (cluster) => {
      const leader = await leaderOf(cluster);
      return pairs().filter((pair) => pair.includes(leader));
    }),
  },
  { name: 'every machine is alone', begin: separate(async () => pairs()) },
  {
    name: 'two machines reach each other by none but the third',
    begin: separate(async () => [
      [0, 1],
      [1, 0],
    ]),
  },
  {
    name: 'the leader is heard and hears nobody',
    begin: separate(async (cluster) => {
      const leader = await leaderOf(cluster);
      return pairs().filter(([hearer]) => hearer === leader);
    }),
  },
  {
    name: 'the leader hears and is not heard',
    begin: separate(async (cluster) => {
      const leader = await leaderOf(cluster);
      return pairs().filter(([, heard]) => heard === leader);
    }),
  },
  {
    name: 'the clock of a gateway jumps ahead by an hour, and back',
    begin: jump(3600),
  },
  {
    name: 'the clock of a gateway jumps back by an hour, and ahead',
    begin: jump(-3600),
  },
  {
    name: 'the disk of a gateway is full',
    begin: fillDisk('gateway', async () => 0),
  },
  {
    name: "the disk of the leader's server is full",
    begin: fillDisk('server', leaderOf),
  },
];

async function leaderOf({ nats }: Cluster): Promise<number> {
  const leader = await until(
    () => nats.leader('PRESENCE'),
    (found) => found !== undefined,
  );
  return nats.servers.findIndex(({ name }) => name === leader?.name);
}

function killServers(choose: (cluster: Cluster) => Promise<readonly number[]>): Fault['begin'] {
  return async (cluster) => {
    const indexes = await choose(cluster);
    const chosen = cluster.nats.servers.filter((_, index) => indexes.includes(index));
    await Promise.all(chosen.map((server) => server.kill()));
    await pause(LASTS_MS);
    return () => startServers(chosen);
  };
}

async function startServers(servers: readonly NatsServer[]): Promise<void> {
  for (const server of servers) server.start();
  await Promise.all(servers.map((server) => server.healthy()));
}

function killGateways(indexes: readonly number[]): Fault['begin'] {
  return async (cluster) => {
    const chosen = cluster.gateways.filter((_, index) => indexes.includes(index));
    await Promise.all(chosen.map((gateway) => gateway.kill()));
    await pause(1000);
    return async () => {
      await Promise.all(indexes.map((index) => cluster.restartGateway(index)));
    };
  };
}

function pauseProcesses(choose: (cluster: Cluster) => Promise<readonly number[]>): Fault['begin'] {
  return async (cluster) => {
    const pids = await choose(cluster);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await pause(PAUSED_MS);
    return async () => {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    };
  };
}

type Pair = readonly [hearer: number, heard: number];

function pairs(): Pair[] {
  return [0, 1, 2].flatMap((one) =>
    [0, 1, 2].flatMap((other): Pair[] => (one === other ? [] : [[one, other]])),
  );
}

function separate(choose: (cluster: Cluster) => Promise<readonly Pair[]>): Fault['begin'] {
  return async (cluster) => {
    const { machines } = cluster;
    for (const [hearer, heard] of await choose(cluster))
      await machines[hearer]?.ignore(machines.filter((_, index) => index === heard));
    await pause(LASTS_MS);
    return async () => {
      for (const machine of machines) await machine.hearAll();
    };
  };
}

function jump(seconds: number): Fault['begin'] {
  return async ({ machines }) => {
    const clock = machines[1]?.clock;
    await clock?.set(seconds);
    await pause(LASTS_MS);
    return async () => {
      await clock?.set(0);
    };
  };
}

function fillDisk(
  disk: 'server' | 'gateway',
  choose: (cluster: Cluster) => Promise<number>,
): Fault['begin'] {
  return async (cluster) => {
    const machine = cluster.machines[await choose(cluster)];
    await machine?.fill(disk);
    await pause(LASTS_MS);
    return async () => {
      await machine?.makeRoom(disk);
    };
  };
}
