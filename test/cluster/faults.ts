/**
 * One round of faults against a real cluster under load: writers that retry, a follower, and whatever
 * is done to its processes meanwhile. By hand, `npm run cluster:faults -- ROUNDS`.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { until } from '../../conformance/until.ts';
import { asArray, asObject, asString, parseJson } from '../../conformance/value.ts';
import { type DataFolder, dataFolder, type GatewayProcess } from '../gateway-process.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { type NatsServers, startNatsServers } from './nats-servers.ts';

const WRITERS = 8;
/** Acknowledged entries before, and again after, a fault is ended. */
const ENTRIES = 150;
const RETRY_MS = 100;
const REQUEST_MS = 10_000;

interface Cluster {
  readonly nats: NatsServers;
  /** A gateway can be replaced by one over the same folder. */
  readonly gateways: GatewayProcess[];
  readonly folders: readonly DataFolder[];
}

interface Fault {
  readonly name: string;
  /** Resolves with what ends it. */
  readonly begin: (cluster: Cluster) => Promise<() => Promise<void>>;
}

const killServers = (choose: (cluster: Cluster) => Promise<readonly number[]>): Fault['begin'] => {
  return async (cluster) => {
    const { servers } = cluster.nats;
    const indexes = await choose(cluster);
    const chosen = servers.filter((_, index) => indexes.includes(index));
    await Promise.all(chosen.map((server) => server.kill()));
    return async () => {
      for (const server of chosen) server.start();
      await Promise.all(chosen.map((server) => server.healthy()));
    };
  };
};

const leaderOf = async ({ nats }: Cluster): Promise<number> => {
  const leader = await until(
    () => nats.leader('PRESENCE'),
    (found) => found !== undefined,
    () => 'the stream has no leader',
  );
  return nats.servers.findIndex(({ name }) => name === leader?.name);
};

const FAULTS: readonly Fault[] = [
  {
    name: 'the leader is killed',
    begin: killServers(async (cluster) => [await leaderOf(cluster)]),
  },
  { name: 'two servers are killed', begin: killServers(async () => [0, 1]) },
  { name: 'all servers are killed', begin: killServers(async () => [0, 1, 2]) },
  {
    name: 'the leader is paused',
    async begin(cluster) {
      const leader = cluster.nats.servers[await leaderOf(cluster)];
      leader?.pause();
      return async () => leader?.resume();
    },
  },
  {
    name: 'a gateway is killed',
    async begin(cluster) {
      await cluster.gateways[1]?.kill();
      return async () => {
        cluster.gateways[1] = await startGateway(cluster.nats, cluster.folders[1]);
      };
    },
  },
];

function startGateway(nats: NatsServers, folder: DataFolder | undefined): Promise<GatewayProcess> {
  return startGatewayProcess({ data: folder?.path ?? '', args: ['--log', nats.url] });
}

/** Throws where an acknowledged entry is missing or doubled, or copies or the follower differ. */
async function runFaults(faults: readonly Fault[]): Promise<number> {
  await using nats = await startNatsServers(3);
  await using stack = new AsyncDisposableStack();
  const folders = await Promise.all([1, 2, 3].map(dataFolder));
  for (const folder of folders) stack.use(folder);
  const gateways: GatewayProcess[] = [];
  const cluster: Cluster = { nats, gateways, folders };
  stack.defer(async () => {
    for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
  });
  gateways.push(...(await Promise.all(folders.map((folder) => startGateway(nats, folder)))));

  const acknowledged = new Set<string>();
  const stopping = new AbortController();
  const following = follow(gateways[0]?.url ?? '', stopping.signal);
  const writing = Array.from({ length: WRITERS }, (_, index) =>
    write(cluster, index % gateways.length, acknowledged, stopping.signal),
  );
  try {
    for (const fault of faults) {
      await untilMore(acknowledged);
      const end = await fault.begin(cluster);
      // The writers of gateways that cannot store wait; what is in flight meets the fault.
      await pause(1_000);
      await end();
      await untilMore(acknowledged);
    }
  } finally {
    stopping.abort();
    await Promise.all(writing);
  }
  await compareCopies(cluster, acknowledged, await following);
  return acknowledged.size;
}

async function untilMore(acknowledged: ReadonlySet<string>): Promise<void> {
  const wanted = acknowledged.size + ENTRIES;
  await until(
    async () => acknowledged.size,
    (size) => size >= wanted,
    (size) => `nothing is acknowledged any more: ${size} of ${wanted}`,
  );
}

/** Says one text after the other, each under a key until it is acknowledged. */
async function write(
  { gateways }: Cluster,
  index: number,
  acknowledged: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const text = randomUUID();
    const headers = { 'content-type': 'application/json', 'idempotency-key': `"${text}"` };
    const body = JSON.stringify({ text });
    for (let isStored = false; !isStored && !signal.aborted;) {
      // Another gateway, where the first does not answer: the key makes it one entry.
      const url = gateways[index % gateways.length]?.url ?? '';
      isStored = await post(`${url}/api/shepit`, { headers, body });
      if (isStored) acknowledged.add(text);
      else {
        index += 1;
        await pause(RETRY_MS);
      }
    }
  }
}

async function post(url: string, options: RequestInit): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(REQUEST_MS);
    const response = await fetch(url, { ...options, method: 'POST', signal });
    await response.arrayBuffer();
    return response.status === 201 || response.status === 200;
  } catch {
    return false;
  }
}

/** The texts that a stream of events has brought when all is quiet, in their order. */
async function follow(url: string, signal: AbortSignal): Promise<{ seqs: number[] }> {
  const seqs: number[] = [];
  const ending = new AbortController();
  const headers = { accept: 'text/event-stream' };
  const response = await fetch(`${url}/api/entries?after=0`, { headers, signal: ending.signal });
  assert.equal(response.status, 200);
  const reading = (async () => {
    let line = '';
    try {
      for await (const chunk of response.body ?? []) {
        line += Buffer.from(chunk).toString('latin1');
        // The first event of a stream has the cursor that it begins at.
        for (const [, id] of line.matchAll(/^id: ?(\d+)$/gm)) if (id !== '0') seqs.push(Number(id));
        line = line.slice(line.lastIndexOf('\n') + 1);
      }
    } catch (error) {
      if (!ending.signal.aborted) throw error;
    }
  })();
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  const { head } = asObject(parseJson(await (await fetch(`${url}/api/entries?limit=1`)).text()));
  await until(
    async () => seqs.at(-1),
    (last) => last !== undefined && last >= Number(head),
    (last) => `the follower stands at ${last} of ${Number(head)}`,
  );
  ending.abort();
  await reading;
  return { seqs };
}

async function compareCopies(
  { gateways }: Cluster,
  acknowledged: ReadonlySet<string>,
  { seqs }: { readonly seqs: readonly number[] },
): Promise<void> {
  for (const [index, seq] of seqs.entries()) assert.equal(seq, index + 1);
  const copies = await until(
    () => Promise.all(gateways.map(({ url }) => readAll(url))),
    (all) => all.every(({ head }) => head === all[0]?.head),
    (all) => `the copies do not become equal: ${all.map(({ head }) => head).join()}`,
  );
  for (const { texts, log } of copies) {
    assert.equal(new Set(texts).size, texts.length, 'an entry is there twice');
    const stored = new Set(texts);
    assert.deepEqual(
      [...acknowledged].filter((text) => !stored.has(text)),
      [],
      'acknowledged entries are lost',
    );
    assert.equal(log, copies[0]?.log, 'the links differ');
  }
}

interface CopyContent {
  readonly head: number;
  readonly texts: readonly string[];
  /** Every entry with its link. */
  readonly log: string;
}

async function readAll(url: string): Promise<CopyContent> {
  const listing = await (await fetch(`${url}/api/entries?order=oldest`)).text();
  const { head, entries } = asObject(parseJson(listing));
  const texts = asArray(entries).map((entry) => asString(asObject(entry)['text']));
  const log = await (await fetch(`${url}/api/log?after=0&before=${Number(head) + 1}`)).text();
  return { head: Number(head), texts, log };
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 1);
  for (let round = 1; round <= rounds; round += 1) {
    const count = await runFaults(FAULTS);
    console.log(`round ${round}: ${count} acknowledged, on every copy once, links equal`);
  }
}
