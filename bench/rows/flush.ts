/**
 * Durable POST on a disk whose flushes take long, beside the same on this disk. At best a slow flush is
 * shared by all connections.
 */
import type { BenchContext } from '../options.ts';
import { emptyFolder } from '../data/data-folder.ts';
import { startGatewayUnder, type Gateway } from '../processes/gateway.ts';
import { pathOf } from '../processes/external-tools.ts';
import { headOf } from '../clients/http.ts';
import { waitUntilIndexed } from '../clients/search-watermark.ts';
import { runWrk } from '../clients/wrk.ts';
import { alternate } from '../measure/rounds.ts';
import { atLeast, type ResultLine } from '../measure/table.ts';
import { assertAllStored } from './post.ts';

const CONNECTIONS = 512;
const TARGET = 0.8;
/** How long each flush takes beside its own time, in ms. */
const DELAYS = [5, 20] as const;
const FLUSHES = 'fsync,fdatasync';

export async function flush(bench: BenchContext): Promise<ResultLine[]> {
  const lines: ResultLine[] = [];
  for (const delay of DELAYS) {
    bench.note(`POST with ${CONNECTIONS} connections, flushes of ${delay} ms`);
    await using slowFolder = await emptyFolder(bench);
    await using fastFolder = await emptyFolder(bench);
    await using slow = await startDelayed(bench, slowFolder.path, delay);
    // Traced as well, so that both pay for it.
    await using fast = await startDelayed(bench, fastFolder.path, 0);
    const rounds = {
      ours: () => post(bench, slow),
      peer: async () => Math.min(await post(bench, fast), (CONNECTIONS * 1000) / delay),
    };
    await alternate(1, rounds);
    const measured = await alternate(bench.quick ? 3 : 5, rounds);
    const label = `durable POST, ${CONNECTIONS} connections, flushes of ${delay} ms, beside fast ones`;
    lines.push(atLeast(label, measured, 'requests/s', TARGET));
  }
  return lines;
}

/** A gateway whose flushes each take this many milliseconds longer. */
function startDelayed(bench: BenchContext, folder: string, delayMs: number): Promise<Gateway> {
  const inject = ['-e', `trace=${FLUSHES}`, '-e', `inject=${FLUSHES}:delay_exit=${delayMs}ms`];
  const strace = [pathOf('strace'), '-f', '-D', '--seccomp-bpf', '-o', '/dev/null', ...inject];
  return startGatewayUnder(bench, strace, folder);
}

async function post(bench: BenchContext, { url }: Gateway): Promise<number> {
  const before = await headOf(url);
  const garden = `${url}/api/garden`;
  const seconds = bench.quick ? 1 : 4;
  const plan = { url: garden, connections: CONNECTIONS, seconds, sendBy: 'POST' } as const;
  const { responses, perSecond } = await runWrk(bench, plan);
  await waitUntilIndexed(bench, url);
  assertAllStored((await headOf(url)) - before, responses, CONNECTIONS);
  return perSecond;
}
