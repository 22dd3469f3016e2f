/**
 * Three gateways over three NATS servers, all on this machine: durable POST beside a bare publisher to
 * a stream of the same servers and beside a gateway alone, the newest entries, live delivery, and one large entry.
 */
import type { BenchContext } from '../options.ts';
import { loopbackPlace, startNatsServers } from '../../test/cluster/nats-servers.ts';
import { runWrk } from '../clients/wrk.ts';
import { headOf } from '../clients/http.ts';
import { assertSame, transferLargeEntry } from '../clients/transfer-large-entry.ts';
import { emptyFolder, requireSpace } from '../data/data-folder.ts';
import { clusterLive } from './cluster-live.ts';
import { growthDuring } from '../measure/rss.ts';
import {
  atLeast,
  information,
  memory,
  mebibytes,
  ratioOnly,
  type ResultLine,
} from '../measure/table.ts';
import { runCommand } from '../processes/child-process.ts';
import { type Gateway, startGateway } from '../processes/gateway.ts';
import { parseJsonOutput } from '../processes/json-output.ts';
import { fileURLToPath } from 'node:url';

const MEMBERS = 3;
/** In all, also where several gateways share them. */
const CONNECTIONS = 63;
const ENTRY_BYTES = 260;
const PUBLISHER_TARGET = 0.5;
const LARGE_BYTES = 4 * 2 ** 30;
const LARGE_BYTES_WHEN_QUICK = 300 * 2 ** 20;
const LARGE_GROWTH = { bytes: 128 * 2 ** 20, text: '128 MiB' };
const PUBLISHER = fileURLToPath(import.meta.resolve('../clients/publisher.ts'));

export async function cluster(bench: BenchContext): Promise<ResultLine[]> {
  await using stack = new AsyncDisposableStack();
  const size = bench.quick ? LARGE_BYTES_WHEN_QUICK : LARGE_BYTES;
  // Three copies in the stream, three in folders, and the upload.
  await requireSpace(bench, 8 * size);
  const places = [];
  for (let at = 0; at < MEMBERS; at += 1)
    places.push(loopbackPlace(stack.use(await emptyFolder(bench)).path));
  const nats = stack.use(await startNatsServers(MEMBERS, { places }));
  const gateways: Gateway[] = [];
  for (let at = 0; at < MEMBERS; at += 1) {
    const { path } = stack.use(await emptyFolder(bench));
    const flags = ['--threads', '1', '--log', nats.url];
    gateways.push(stack.use(await startGateway(bench, path, ...flags)));
  }
  const alone = stack.use(
    await startGateway(bench, stack.use(await emptyFolder(bench)).path, '--threads', '1'),
  );
  const servers = nats.servers.map(({ address }) => address).join();
  const pids = [...gateways, ...nats.servers].map(({ pid }) => pid);
  return [
    ...(await posts(bench, { servers, gateways, alone })),
    ...(await newest(bench, gateways)),
    ...(await clusterLive(bench, gateways)),
    ...(await largeEntry(bench, gateways, { pids, size })),
  ];
}

interface Posting {
  readonly servers: string;
  readonly gateways: readonly Gateway[];
  readonly alone: Gateway;
}

async function posts(
  bench: BenchContext,
  { servers, gateways, alone }: Posting,
): Promise<ResultLine[]> {
  const rates = {
    bare: [] as number[],
    one: [] as number[],
    all: [] as number[],
    alone: [] as number[],
  };
  const seconds = bench.quick ? 1 : 4;
  for (let round = 0; round <= (bench.quick ? 1 : 5); round += 1) {
    bench.note(`POST to a cluster, round ${round}`);
    const measured = {
      bare: await publish(bench, servers, seconds),
      one: await requests(bench, gateways.slice(0, 1), {
        path: '/api/garden',
        seconds,
        sendBy: 'POST',
      }),
      all: await requests(bench, gateways, { path: '/api/garden', seconds, sendBy: 'POST' }),
      alone: await requests(bench, [alone], { path: '/api/garden', seconds, sendBy: 'POST' }),
    };
    // The first round is for warming up.
    if (round === 0) continue;
    for (const name of ['bare', 'one', 'all', 'alone'] as const) rates[name].push(measured[name]);
  }
  const { bare, one, all } = rates;
  const target = PUBLISHER_TARGET;
  return [
    atLeast(
      'durable POST, one gateway of a cluster, beside a publisher',
      { ours: one, peer: bare },
      'requests/s',
      target,
    ),
    atLeast(
      'durable POST, three gateways, beside a publisher',
      { ours: all, peer: bare },
      'requests/s',
      target,
    ),
    ratioOnly(
      '  one gateway of a cluster, beside one alone',
      { ours: one, peer: rates.alone },
      'requests/s',
    ),
    ratioOnly('  three gateways, beside one alone', { ours: all, peer: rates.alone }, 'requests/s'),
  ];
}

async function newest(bench: BenchContext, gateways: readonly Gateway[]): Promise<ResultLine[]> {
  const rates: Record<1 | 2 | 3, number[]> = { 1: [], 2: [], 3: [] };
  const options = { path: '/api/garden?limit=50', seconds: bench.quick ? 1 : 3 };
  for (let round = 0; round < (bench.quick ? 1 : 5); round += 1)
    for (const count of [1, 2, 3] as const)
      rates[count].push(await requests(bench, gateways.slice(0, count), options));
  return [
    ratioOnly(
      'newest 50, two gateways, beside one',
      { ours: rates[2], peer: rates[1] },
      'requests/s',
    ),
    ratioOnly(
      'newest 50, three gateways, beside one',
      { ours: rates[3], peer: rates[1] },
      'requests/s',
    ),
  ];
}

async function largeEntry(
  bench: BenchContext,
  gateways: readonly Gateway[],
  { pids, size }: { readonly pids: readonly number[]; readonly size: number },
): Promise<ResultLine[]> {
  bench.note(`a text of ${mebibytes(size)} through the cluster`);
  const growths = new Map<number, number>();
  const [first, last] = [gateways.at(0)?.url ?? '', gateways.at(-1)?.url ?? ''];
  let work = (): ReturnType<typeof transferLargeEntry> =>
    transferLargeEntry(bench, ['send', `${first}/api/garden`, String(size)]);
  for (const pid of pids) {
    const inner = work;
    work = async () => {
      const { growth, result } = await growthDuring(pid, inner);
      growths.set(pid, growth.anonymous);
      return result;
    };
  }
  const sent = await work();
  const started = performance.now();
  // Waits until that gateway has it.
  const read = await transferLargeEntry(bench, ['read', last + sent.location]);
  assertSame(sent, read);
  const ofGateways = Math.max(...gateways.map(({ pid }) => growths.get(pid) ?? 0));
  const ofServers = Math.max(
    ...pids
      .filter((pid) => !gateways.some((one) => one.pid === pid))
      .map((pid) => growths.get(pid) ?? 0),
  );
  const pace = (seconds: number): string => `${Math.round(sent.bytes / 1e6 / seconds)} MB/s`;
  return [
    memory(
      `memory of each gateway, growth with a text of ${mebibytes(size)}`,
      ofGateways,
      LARGE_GROWTH,
    ),
    memory('  of each NATS server', ofServers),
    information('  pace', pace(sent.seconds)),
    information('  read at another gateway', pace((performance.now() - started) / 1000)),
  ];
}

async function publish(bench: BenchContext, servers: string, seconds: number): Promise<number> {
  const args = [PUBLISHER, servers, String(CONNECTIONS), String(seconds), String(ENTRY_BYTES)];
  return parseJsonOutput(await runCommand(bench, [process.execPath, ...args])).number('perSecond');
}

interface Requests {
  readonly path: string;
  readonly seconds: number;
  readonly sendBy?: 'POST';
}

/** A second, at all gateways together. Throws where an acknowledged entry is missing. */
async function requests(
  bench: BenchContext,
  gateways: readonly Gateway[],
  { path, seconds, sendBy }: Requests,
): Promise<number> {
  const connections = Math.floor(CONNECTIONS / gateways.length);
  const head = await headOf(gateways[0]?.url ?? '');
  const results = await Promise.all(
    gateways.map(({ url }) =>
      runWrk(bench, {
        url: url + path,
        connections,
        seconds,
        ...(sendBy === undefined ? {} : { sendBy }),
      }),
    ),
  );
  const acknowledged = results.reduce((sum, { responses }) => sum + responses, 0);
  if (sendBy !== undefined && (await headOf(gateways[0]?.url ?? '')) < head + acknowledged)
    throw new Error(`Acknowledged ${acknowledged} entries, but the log has fewer`);
  return results.reduce((sum, { perSecond }) => sum + perSecond, 0);
}
