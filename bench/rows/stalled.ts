/** The effect of 2,000 event streams that are never read on other clients and on memory. */
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { startProcess } from '../processes/child-process.ts';
import { emptyFolder } from '../data/data-folder.ts';
import { gardenEntries } from '../data/garden-entries.ts';
import { startGateway, type Gateway } from '../processes/gateway.ts';
import { sendRequest } from '../clients/http.ts';
import { percentile, alternate } from '../measure/rounds.ts';
import { rssOf } from '../measure/rss.ts';
import { atMostTime, information, memory, type ResultLine } from '../measure/table.ts';
import { sendDuring, type RequestSource } from '../clients/paced-client.ts';

const STALLED_READERS = fileURLToPath(import.meta.resolve('../clients/stalled-readers.ts'));
const STREAMS = 2000;
const ENTRIES = 100_000;
const ROUNDS = 5;
/** Entries posted together per interval: 2,000 a second. */
const BATCH = 20;
const EVERY_MS = 10;
const TARGET = 2;
const GROWTH_LIMIT = { bytes: STREAMS * 16 * 1024, text: '16 KiB each' };

export async function stalled(bench: BenchContext): Promise<ResultLine[]> {
  await using folder = await emptyFolder(bench);
  await using aloneFolder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path, '--threads', '1');
  await using alone = await startGateway(bench, aloneFolder.path, '--threads', '1');
  const entries = bench.quick ? ENTRIES / 10 : ENTRIES;
  const round = async (target: Gateway): Promise<number> => {
    const work = (): Promise<void> => postEntries(bench, target, entries / ROUNDS);
    const { requests } = await sendDuring(
      target.url,
      { everyMs: 10, next: readsAndWrites() },
      work,
    );
    return percentile(requests.latencies, 0.99);
  };
  await round(alone);
  await round(gateway);
  const command = [process.execPath, STALLED_READERS, `${gateway.url}/api/events`, String(STREAMS)];
  await using readers = await startProcess(bench, command, ['ignore', 'inherit', 'inherit', 'ipc']);
  await once(readers.process, 'message', { signal: bench.signal });
  await sleep(2000, undefined, { signal: bench.signal });
  const before = rssOf(gateway.pid).all;
  bench.note(`${entries} entries, ${STREAMS} streams that are never read`);
  const rounds = await alternate(ROUNDS, { ours: () => round(gateway), peer: () => round(alone) });
  return [
    atMostTime('p99 of others beside 2,000 stalled streams', rounds, 'ms', TARGET),
    memory(
      'memory, growth with 2,000 stalled streams',
      rssOf(gateway.pid).all - before,
      GROWTH_LIMIT,
    ),
    information('  entries appended meanwhile', `${entries}`),
  ];
}

/** Posts entries at a fixed pace. */
async function postEntries(bench: BenchContext, { url }: Gateway, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const next = gardenEntries(17);
  try {
    let due = performance.now();
    for (let left = count; left > 0; left -= BATCH) {
      bench.signal.throwIfAborted();
      const some = Array.from({ length: BATCH }, async () => {
        const { status } = await sendRequest(`${url}/api/garden`, {
          agent,
          body: JSON.stringify(next()),
        });
        if (status !== 201) throw new Error(`Cannot post an entry: got ${status}`);
      });
      await Promise.all(some);
      due += EVERY_MS;
      await sleep(Math.max(0, due - performance.now()));
    }
  } finally {
    agent.destroy();
  }
}

/** Alternates between GET and POST. */
function readsAndWrites(): RequestSource {
  const next = gardenEntries(23);
  let count = 0;
  return () => {
    count += 1;
    return count % 2 === 0
      ? { path: '/api/garden?limit=50' }
      : { path: '/api/garden', body: JSON.stringify(next()) };
  };
}
