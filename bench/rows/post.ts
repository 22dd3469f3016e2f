/**
 * Durable POST of garden entries, beside webdis with Redis that flushes each write, and beside a
 * server that only parses and returns them.
 */
import type { BenchContext } from '../options.ts';
import { emptyFolder } from '../data/data-folder.ts';
import { startGateway } from '../processes/gateway.ts';
import { gardenEntries } from '../data/garden-entries.ts';
import { sendRequest, headOf } from '../clients/http.ts';
import { waitUntilIndexed } from '../clients/search-watermark.ts';
import { runWrk, type WrkOptions, type WrkResult } from '../clients/wrk.ts';
import { startEcho } from '../peers/peer.ts';
import { startWebdis } from '../peers/webdis.ts';
import { cpuOf, cpuOfThreads } from '../measure/cpu.ts';
import { atLeast, atMostTime, information, type ResultLine } from '../measure/table.ts';

const RATE_TARGET = 1.1;
const CPU_TARGET = 1.3;
const CPU_WITHOUT_INDEXING_TARGET = 1;
/** Of the echo's rate, by the number of connections. */
const ECHO_TARGETS: ReadonlyMap<number, number> = new Map([
  [64, 0.5],
  [512, 0.8],
]);
const INDEXING_THREADS: ReadonlySet<string> = new Set(['index-thread', 'words-thread']);

interface Server {
  readonly pids: readonly number[];
  readonly request: Pick<WrkOptions, 'url' | 'sendBy'>;
  /** To be awaited after each round: resolves when its work is done. */
  readonly drain?: () => Promise<void>;
}

interface Round {
  readonly perSecond: number;
  /** CPU time for a request, in µs. */
  readonly cpu: number;
  readonly cpuOfIndexing: number;
}

export async function post(bench: BenchContext): Promise<ResultLine[]> {
  await using folder = await emptyFolder(bench);
  await using redisFolder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path);
  await using webdis = await startWebdis(bench, redisFolder.path);
  await using echo = await startEcho(bench);
  await assertStores(gateway.url);
  const sent = { ours: 1, webdis: 0, unread: 0 };
  const servers: Record<'echo' | 'webdis' | 'ours', Server> = {
    echo: { pids: [echo.pid], request: { url: `${echo.url}/api/garden`, sendBy: 'POST' } },
    webdis: {
      pids: [webdis.pid, webdis.redis.pid],
      request: { url: webdis.appendUrl, sendBy: 'PUT' },
    },
    ours: {
      pids: [gateway.pid],
      request: { url: `${gateway.url}/api/garden`, sendBy: 'POST' },
      drain: () => waitUntilIndexed(bench, gateway.url),
    },
  };
  const lines: ResultLine[] = [];
  for (const [connections, echoTarget] of ECHO_TARGETS) {
    bench.note(`POST with ${connections} connections`);
    const rounds = { echo: [] as Round[], webdis: [] as Round[], ours: [] as Round[] };
    // The first round is for warming up.
    for (let round = 0; round <= (bench.quick ? 3 : 7); round += 1) {
      for (const name of ['echo', 'webdis', 'ours'] as const) {
        const [result, figures] = await measure(bench, servers[name], connections);
        if (round > 0) rounds[name].push(figures);
        if (name !== 'echo') sent[name] += result.responses;
      }
      sent.unread += connections;
    }
    lines.push(...compare(`durable POST, ${connections} connections`, rounds, echoTarget));
  }
  const head = await headOf(gateway.url);
  assertAllStored(head, sent.ours, sent.unread);
  assertAllStored(await webdis.length(), sent.webdis, sent.unread);
  lines.push(information('  entries in the log', `${head}`, `${sent.ours} acknowledged`));
  return lines;
}

async function measure(
  bench: BenchContext,
  { pids, request, drain }: Server,
  connections: number,
): Promise<[WrkResult, Round]> {
  const cpu = (): number => pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
  const indexing = (): number =>
    pids.reduce((sum, pid) => sum + cpuOfThreads(pid, INDEXING_THREADS), 0);
  const [cpuBefore, indexingBefore] = [cpu(), indexing()];
  const seconds = bench.quick ? 1 : 4;
  const result = await runWrk(bench, { ...request, connections, seconds });
  // It must not be indexing while another one is measured.
  await drain?.();
  const each = 1e6 / result.responses;
  const figures = {
    perSecond: result.perSecond,
    cpu: (cpu() - cpuBefore) * each,
    cpuOfIndexing: (indexing() - indexingBefore) * each,
  };
  return [result, figures];
}

function compare(
  what: string,
  { echo, webdis, ours }: Record<'echo' | 'webdis' | 'ours', readonly Round[]>,
  echoTarget: number,
): ResultLine[] {
  const rate = ({ perSecond }: Round): number => perSecond;
  const cpu = (round: Round): number => round.cpu;
  const rates = { ours: ours.map(rate), peer: webdis.map(rate) };
  const cpus = { ours: ours.map(cpu), peer: webdis.map(cpu) };
  const withoutIndexing = {
    ours: ours.map((round) => round.cpu - round.cpuOfIndexing),
    peer: cpus.peer,
  };
  const echoRates = { ours: rates.ours, peer: echo.map(rate) };
  return [
    atLeast(`${what}, beside webdis + Redis`, rates, 'requests/s', RATE_TARGET),
    atMostTime('  CPU time of one, indexed', cpus, 'µs', CPU_TARGET),
    atMostTime('  without indexing', withoutIndexing, 'µs', CPU_WITHOUT_INDEXING_TARGET),
    atLeast('  beside an echo', echoRates, 'requests/s', echoTarget),
  ];
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
