/**
 * Durable POST of garden entries, beside webdis with Redis that flushes each write, beside what a user
 * would pick instead, and beside a server that only parses and returns them.
 */
import type { BenchContext } from '../options.ts';
import { emptyFolder } from '../data/data-folder.ts';
import { startGateway } from '../processes/gateway.ts';
import { gardenEntries } from '../data/garden-entries.ts';
import { sendRequest, headOf } from '../clients/http.ts';
import { waitUntilIndexed } from '../clients/search-watermark.ts';
import { type EntryStore, startEcho } from '../peers/peer.ts';
import { startPocketBase } from '../peers/pocketbase.ts';
import { startPostgres } from '../peers/postgres.ts';
import { startWebdis } from '../peers/webdis.ts';
import { cpuOfThreads } from '../measure/cpu.ts';
import { measureRequests, type Round, type Server } from '../measure/requests.ts';
import { atLeast, atMostTime, information, type ResultLine } from '../measure/table.ts';

interface Load {
  readonly connections: number;
  /** Of the echo's rate. */
  readonly echoTarget: number;
  /** Times the CPU time of webdis and Redis. */
  readonly webdisTarget: number;
}

const LOADS: readonly Load[] = [
  { connections: 64, echoTarget: 0.5, webdisTarget: 1.3 },
  { connections: 512, echoTarget: 0.8, webdisTarget: 1.6 },
];
const WITHOUT_INDEXING_TARGET = 1;
const INDEXING_THREADS: ReadonlySet<string> = new Set(['index-thread']);

interface StoringPeer {
  readonly name: string;
  readonly start: (bench: BenchContext, folder: string) => Promise<EntryStore>;
  /** Times its rate, and its CPU time for a request. */
  readonly targets: (load: Load) => { readonly rate: number; readonly cpu: number };
}

const STORING_PEERS: readonly StoringPeer[] = [
  {
    name: 'webdis + Redis',
    start: startWebdis,
    targets: ({ webdisTarget }) => ({ rate: 1, cpu: webdisTarget }),
  },
  {
    name: 'Fastify + PostgreSQL',
    start: startPostgres,
    targets: () => ({ rate: 1.5, cpu: 0.35 }),
  },
  {
    name: 'PocketBase, which does not flush each',
    start: startPocketBase,
    targets: () => ({ rate: 2.5, cpu: 0.25 }),
  },
];

interface Measured extends Server, Pick<EntryStore, 'append'> {
  /** How many entries it has, unless it stores none. */
  readonly length?: () => Promise<number>;
  /** Entries that it has acknowledged. */
  sent: number;
  /** Of one load. */
  rounds: MeasuredRound[];
}

interface MeasuredRound extends Round {
  /** CPU time of indexing for a request, in µs. */
  readonly cpuOfIndexing: number;
}

export async function post(bench: BenchContext): Promise<ResultLine[]> {
  await using stack = new AsyncDisposableStack();
  const newFolder = async (): Promise<string> => stack.use(await emptyFolder(bench)).path;
  const gateway = stack.use(await startGateway(bench, await newFolder()));
  await assertStores(gateway.url);
  const ours: Measured = {
    pids: [gateway.pid],
    append: { url: `${gateway.url}/api/garden`, sendBy: 'POST' },
    // It must not be indexing while another one is measured.
    drain: () => waitUntilIndexed(bench, gateway.url),
    length: () => headOf(gateway.url),
    sent: 1,
    rounds: [],
  };
  const bare = stack.use(await startEcho(bench));
  const append = { url: `${bare.url}/api/garden`, sendBy: 'POST' } as const;
  const echo: Measured = { pids: [bare.pid], append, sent: 0, rounds: [] };
  const peers: (Measured & StoringPeer)[] = [];
  for (const peer of STORING_PEERS) {
    bench.note(`starting ${peer.name}`);
    const store = stack.use(await peer.start(bench, await newFolder()));
    peers.push({ ...peer, ...store, sent: 0, rounds: [] });
  }

  const all = [echo, ...peers, ours];
  let unread = 0;
  const lines: ResultLine[] = [];
  for (const load of LOADS) {
    bench.note(`POST with ${load.connections} connections`);
    for (const server of all) server.rounds = [];
    // The first round is for warming up.
    for (let round = 0; round <= (bench.quick ? 3 : 7); round += 1) {
      for (const server of all) {
        const measured = await measure(bench, server, load.connections);
        server.sent += measured.responses;
        if (round > 0) server.rounds.push(measured);
      }
      unread += load.connections;
    }
    assertIndexes(ours);
    lines.push(...compare(load, { ours, echo, peers }));
  }
  for (const { length, sent } of all) {
    if (length !== undefined) assertAllStored(await length(), sent, unread);
  }
  const stored = await headOf(gateway.url);
  lines.push(information('  entries in the log', `${stored}`, `${ours.sent} acknowledged`));
  return lines;
}

/** Its CPU time is that of the threads with these names, which are the gateway's own affair. */
function assertIndexes({ rounds }: Measured): void {
  if (rounds.some(({ cpuOfIndexing }) => cpuOfIndexing > 0)) return;
  throw new Error(`Cannot find the threads that index: ${[...INDEXING_THREADS].join(', ')}`);
}

async function measure(
  bench: BenchContext,
  server: Measured,
  connections: number,
): Promise<MeasuredRound> {
  const indexing = (): number =>
    server.pids.reduce((sum, pid) => sum + cpuOfThreads(pid, INDEXING_THREADS), 0);
  const before = indexing();
  const options = { ...server.append, connections, seconds: bench.quick ? 1 : 4 };
  const round = await measureRequests(bench, server, options);
  return { ...round, cpuOfIndexing: ((indexing() - before) * 1e6) / round.responses };
}

function compare(
  load: Load,
  servers: { ours: Measured; echo: Measured; peers: readonly (Measured & StoringPeer)[] },
): ResultLine[] {
  const ours = servers.ours.rounds;
  const lines = servers.peers.flatMap(({ name, targets, rounds }) => {
    const { rate, cpu } = targets(load);
    const rates = { ours: ours.map(rateOf), peer: rounds.map(rateOf) };
    const times = { ours: ours.map(cpuTimeOf), peer: rounds.map(cpuTimeOf) };
    const label = `durable POST, ${load.connections} connections, beside ${name}`;
    return [
      atLeast(label, rates, 'requests/s', rate),
      atMostTime('  CPU time of one, indexed', times, 'µs', cpu),
    ];
  });
  const [webdis] = servers.peers;
  const withoutIndexing = {
    ours: ours.map((round) => round.cpu - round.cpuOfIndexing),
    peer: webdis?.rounds.map(cpuTimeOf) ?? [],
  };
  const echo = { ours: ours.map(rateOf), peer: servers.echo.rounds.map(rateOf) };
  return [
    ...lines,
    atMostTime(
      '  without indexing, beside webdis + Redis',
      withoutIndexing,
      'µs',
      WITHOUT_INDEXING_TARGET,
    ),
    atLeast('  rate beside an echo', echo, 'requests/s', load.echoTarget),
  ];
}

function rateOf({ perSecond }: Round): number {
  return perSecond;
}

function cpuTimeOf({ cpu }: Round): number {
  return cpu;
}

/** Every acknowledged entry is stored, and at most those beyond for which wrk did not wait. */
export function assertAllStored(stored: number, acknowledged: number, unread: number): void {
  if (stored >= acknowledged && stored <= acknowledged + unread) return;
  throw new Error(
    `Cannot trust the figures: ${acknowledged} entries were acknowledged (at most ${unread} more may be stored), the log grew by ${stored}`,
  );
}

async function assertStores(url: string): Promise<void> {
  const entry = gardenEntries()();
  const answer = await sendRequest(`${url}/api/garden`, { body: JSON.stringify(entry) });
  const newest = await sendRequest(`${url}/api/garden?limit=1`);
  if (answer.status !== 201 || !newest.text.includes(entry.text)) {
    throw new Error(`Cannot store an entry: got ${answer.status} ${answer.text.slice(0, 500)}`);
  }
}
