/** Many hostile callers at once: what they cost in memory, and how others are served meanwhile. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { copiedFolder } from '../data/data-folder.ts';
import { gardenEntries } from '../data/garden-entries.ts';
import { startProcess } from '../processes/child-process.ts';
import { startGateway, type Gateway } from '../processes/gateway.ts';
import { alternate, percentile } from '../measure/rounds.ts';
import { rssOf } from '../measure/rss.ts';
import { atMostTime, information, mebibytes, type ResultLine } from '../measure/table.ts';
import { sendDuring, type RequestSource } from '../clients/paced-client.ts';

const ATTACKERS = fileURLToPath(import.meta.resolve('../clients/attackers.ts'));
const ENTRIES = 300_000;
const ROUND_SECONDS = 15;
const TARGET = 2;
const REST_SECONDS = 30;
/** Descriptors that the gateway needs for other things. */
const RESERVED = 3000;

/** Connections at a time; searches a second; long questions one at a time. */
const CALLERS = { streams: 10_000, uploads: 10_000, pipelines: 1000, messages: 200 };
const SEARCHES_PER_SECOND = 100;

export async function attack(bench: BenchContext): Promise<ResultLine[]> {
  await using folder = await copiedFolder(bench, ENTRIES);
  await using aloneFolder = await copiedFolder(bench, ENTRIES);
  await using gateway = await startGateway(bench, folder.path, '--threads', '1');
  await using alone = await startGateway(bench, aloneFolder.path, '--threads', '1');
  const next = { gateway: bystander(), alone: bystander() };
  const round = async (target: Gateway, source: RequestSource): Promise<number> => {
    const work = (): Promise<void> =>
      sleep(ROUND_SECONDS * 1000, undefined, { signal: bench.signal });
    const { requests } = await sendDuring(target.url, { everyMs: 20, next: source }, work);
    return percentile(requests.latencies, 0.99);
  };
  await round(alone, next.alone);
  await round(gateway, next.gateway);
  const before = rssOf(gateway.pid).all;
  const callers = withinDescriptorLimit(bench);
  await using attackers = new AsyncDisposableStack();
  const processes: ChildProcess[] = [];
  for (const [kind, count] of Object.entries({
    ...callers,
    searches: SEARCHES_PER_SECOND,
    questions: 1,
  })) {
    bench.note(`${count} ${kind}`);
    // With the lowest priority, as if they had a machine of their own.
    const command = ['nice', '-n', '19', process.execPath, ATTACKERS, kind, gateway.url];
    command.push(String(count));
    const child = await startProcess(bench, command, ['ignore', 'inherit', 'inherit', 'ipc']);
    attackers.use(child);
    processes.push(child.process);
    await once(child.process, 'message', { signal: bench.signal });
  }
  let most = 0;
  const minutes = bench.quick ? 1 : bench.minutes;
  const rounds = await alternate(Math.ceil((minutes * 60) / (2 * ROUND_SECONDS)), {
    peer: () => round(alone, next.alone),
    async ours() {
      const p99 = await round(gateway, next.gateway);
      most = Math.max(most, rssOf(gateway.pid).all);
      return p99;
    },
  });
  const during = rssOf(gateway.pid).all;
  const connections = socketsOf(gateway.pid) - socketsOf(alone.pid);
  for (const { exitCode } of processes)
    if (exitCode !== null) throw new Error('An attacker has ended before its time.');
  await attackers.disposeAsync();
  await sleep(REST_SECONDS * 1000, undefined, { signal: bench.signal });
  return [
    atMostTime('p99 of others beside attackers', rounds, 'ms', TARGET),
    information('  memory before', mebibytes(before)),
    information('  memory at most; at the end', `${mebibytes(most)}; ${mebibytes(during)}`),
    information(
      '  growth per connection',
      `${Math.round((most - before) / connections / 1024)} KiB`,
    ),
    information(`  memory ${REST_SECONDS} s after`, mebibytes(rssOf(gateway.pid).all)),
    information('  connections held at the end', connections.toLocaleString('en')),
  ];
}

function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`).startsWith('socket:');
    } catch {
      // Closed meanwhile.
      return false;
    }
  }).length;
}

/** The attackers that fit the descriptor limit of this process, which a gateway inherits. */
function withinDescriptorLimit(bench: BenchContext): typeof CALLERS {
  const limits = readFileSync('/proc/self/limits', 'latin1');
  const limit = Number(/^Max open files +\d+ +(\d+)/m.exec(limits)?.[1]);
  const wanted = Object.values(CALLERS).reduce((sum, count) => sum + count, 0);
  const share = Math.min(bench.quick ? 0.1 : 1, (limit - RESERVED) / wanted);
  const some = (count: number): number => Math.floor(count * share);
  const { streams, uploads, pipelines, messages } = CALLERS;
  return {
    streams: some(streams),
    uploads: some(uploads),
    pipelines: some(pipelines),
    messages: some(messages),
  };
}

/** Reads, writes and, each second, searches. */
function bystander(): RequestSource {
  const entries = gardenEntries(29);
  let count = 0;
  return () => {
    count += 1;
    if (count % 50 === 0) return { path: '/api/search?q=light&limit=20' };
    if (count % 2 === 0) return { path: '/api/garden?limit=50' };
    return { path: '/api/garden', body: JSON.stringify(entries()) };
  };
}
