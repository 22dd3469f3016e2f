/**
 * The newest 50 of a million garden entries, beside nginx with the same bytes in a file: plain and as
 * `fetch` asks for them; while nothing is posted, while 200 entries a second are, and while clients post
 * as fast as they can. And plain, beside what a user would pick to store and list a million entries.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import type { BenchContext } from '../options.ts';
import { copiedFolder, emptyFolder } from '../data/data-folder.ts';
import { startGateway, type Gateway } from '../processes/gateway.ts';
import { download } from '../clients/http.ts';
import { runWrk } from '../clients/wrk.ts';
import { startNginx } from '../peers/peer.ts';
import { startPocketBase } from '../peers/pocketbase.ts';
import { startPostgres } from '../peers/postgres.ts';
import { measureRequests } from '../measure/requests.ts';
import { alternate } from '../measure/rounds.ts';
import { atLeast, atMostTime, information, type ResultLine } from '../measure/table.ts';
import { gardenPosts, sendDuring } from '../clients/paced-client.ts';

const ENTRIES = 1_000_000;
const PATH = '/api/garden?limit=50';
const CONNECTIONS = 64;
const POST_EVERY_MS = 5;
/** Fewer than 50 entries have. */
const MIN_BYTES = 10_000;

const FORMS = [
  { label: 'newest 50 of a garden of 1 million', accept: undefined },
  { label: 'the same as fetch asks', accept: 'gzip, deflate' },
] as const;

const STORES = [
  { name: 'Fastify + PostgreSQL', start: startPostgres, targets: { rate: 1.5, cpu: 0.35 } },
  { name: 'PocketBase', start: startPocketBase, targets: { rate: 2.5, cpu: 0.25 } },
] as const;

export async function newest(bench: BenchContext): Promise<ResultLine[]> {
  await using data = await copiedFolder(bench, ENTRIES);
  await using files = await emptyFolder(bench);
  await using gateway = await startGateway(bench, data.path);
  await using peer = await startNginx(bench, files.path);
  const file = join(files.path, 'newest.json');
  await download(gateway.url + PATH, file);
  const plain = await readFile(file);
  const compressed = gzipSync(plain);
  await writeFile(`${file}.gz`, compressed);

  const [seconds, count] = [secondsOf(bench), bench.quick ? 3 : 5];
  let [posted, late] = [0, 0];
  const paced = async (work: () => Promise<number>): Promise<number> => {
    const plan = { everyMs: POST_EVERY_MS, next: gardenPosts('/api/garden') };
    const { requests, result } = await sendDuring(gateway.url, plan, work);
    posted += requests.posted;
    late = Math.max(late, ...requests.latencies);
    return result;
  };
  const full = async (work: () => Promise<number>): Promise<number> => {
    const url = `${gateway.url}/api/garden`;
    const posting = runWrk(bench, { url, connections: CONNECTIONS, seconds, sendBy: 'POST' });
    const [result] = await Promise.all([work(), posting]);
    return result;
  };
  const loads = [
    { label: '', target: 0.75, during: (work: () => Promise<number>) => work() },
    { label: '  while 200 entries/s come in', target: 0.7, during: paced },
    { label: '  while as many come in as can', target: 0.5, during: full },
  ];
  const lines: ResultLine[] = [];
  for (const { label: form, accept } of FORMS) {
    const { length } = accept === undefined ? plain : compressed;
    const round = async (url: string): Promise<number> => {
      const { perSecond, responseBytes } = await runWrk(bench, {
        url,
        connections: CONNECTIONS,
        seconds,
        ...(accept !== undefined && { accept }),
      });
      // Newer entries are about as long; compressed, they differ more.
      if (responseBytes < length / 2) throw new Error(`Cannot compare: ${url} sent too few bytes`);
      return perSecond;
    };
    for (const { label, target, during } of loads) {
      bench.note(label === '' ? form : label.trim());
      const peerRound = (): Promise<number> => round(`${peer.url}/newest.json`);
      const ourRound = (): Promise<number> => during(() => round(gateway.url + PATH));
      await peerRound();
      await ourRound();
      const rounds = await alternate(count, { ours: ourRound, peer: peerRound });
      lines.push(atLeast(label === '' ? form : label, rounds, 'requests/s', target));
    }
  }
  lines.push(...(await besideStores(bench, gateway)));
  const waited = `${posted}; ${late.toFixed(0)} ms`;
  return [...lines, information('  entries at 200/s; longest wait for a 201', waited)];
}

async function besideStores(bench: BenchContext, gateway: Gateway): Promise<ResultLine[]> {
  const ours = { pids: [gateway.pid], newestUrl: gateway.url + PATH };
  const lines: ResultLine[] = [];
  for (const { name, start, targets } of STORES) {
    bench.note(`the same beside ${name}`);
    await using folder = await emptyFolder(bench);
    await using store = await start(bench, folder.path, ENTRIES);
    const times = { ours: new Array<number>(), peer: new Array<number>() };
    const round = async (side: 'ours' | 'peer'): Promise<number> => {
      const server = side === 'ours' ? ours : store;
      const options = {
        url: server.newestUrl,
        connections: CONNECTIONS,
        seconds: secondsOf(bench),
      };
      const { cpu, perSecond, responseBytes } = await measureRequests(bench, server, options);
      if (responseBytes < MIN_BYTES) throw new Error(`Cannot compare: ${name} sent too few bytes`);
      times[side].push(cpu);
      return perSecond;
    };
    const sides = { ours: () => round('ours'), peer: () => round('peer') };
    await alternate(1, sides);
    times.ours = [];
    times.peer = [];
    const rates = await alternate(bench.quick ? 3 : 5, sides);
    lines.push(
      atLeast(`newest 50 of 1 million, beside ${name}`, rates, 'requests/s', targets.rate),
      atMostTime('  CPU time of one', times, 'µs', targets.cpu),
    );
  }
  return lines;
}

function secondsOf(bench: BenchContext): number {
  return bench.quick ? 1 : 5;
}
