/** What everybody else notices of 2,000 streams that are never read, and what each of them takes. */
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Bench } from '../bench.ts';
import { start } from '../children.ts';
import { emptyFolder } from '../folders.ts';
import { gardener } from '../garden.ts';
import { startGateway, type Gateway } from '../gateway.ts';
import { ask } from '../http.ts';
import { percentile, takeTurns } from '../rounds.ts';
import { rssOf } from '../rss.ts';
import { atMostTime, fact, memory, type Line } from '../table.ts';
import { visitDuring, type Question } from '../visitor.ts';

const STALL = fileURLToPath(import.meta.resolve('../stall.ts'));
const STREAMS = 2000;
const ENTRIES = 100_000;
const ROUNDS = 5;
/** Entries left together, so often: 2,000 a second. */
const TOGETHER = 20;
const EVERY_MS = 10;
const NOTICED = 2;
const EACH = { bytes: STREAMS * 16 * 1024, text: '16 KiB each' };

export async function stalled(bench: Bench): Promise<Line[]> {
  await using folder = await emptyFolder(bench);
  await using aloneFolder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path, '--threads', '1');
  await using alone = await startGateway(bench, aloneFolder.path, '--threads', '1');
  const entries = bench.quick ? ENTRIES / 10 : ENTRIES;
  const round = async (asked: Gateway): Promise<number> => {
    const leaving = (): Promise<void> => leave(bench, asked, entries / ROUNDS);
    const { visit } = await visitDuring(asked.url, { everyMs: 10, next: turns() }, leaving);
    return percentile(visit.latencies, 0.99);
  };
  await round(alone);
  await round(gateway);
  const command = [process.execPath, STALL, `${gateway.url}/api/events`, String(STREAMS)];
  await using readers = await start(bench, command, ['ignore', 'inherit', 'inherit', 'ipc']);
  await once(readers.process, 'message', { signal: bench.signal });
  await sleep(2000, undefined, { signal: bench.signal });
  const before = rssOf(gateway.pid).all;
  bench.note(`${entries} entries, ${STREAMS} streams that are never read`);
  const rounds = await takeTurns(ROUNDS, { ours: () => round(gateway), peer: () => round(alone) });
  return [
    atMostTime('p99 of others beside 2,000 stalled streams', rounds, 'ms', NOTICED),
    memory('memory, growth with 2,000 stalled streams', rssOf(gateway.pid).all - before, EACH),
    fact('  entries appended meanwhile', `${entries}`),
  ];
}

/** Leaves entries at a pace that leaves time for others. */
async function leave(bench: Bench, { url }: Gateway, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const next = gardener(17);
  try {
    let due = performance.now();
    for (let left = count; left > 0; left -= TOGETHER) {
      bench.signal.throwIfAborted();
      const some = Array.from({ length: TOGETHER }, async () => {
        const { status } = await ask(`${url}/api/garden`, { agent, body: JSON.stringify(next()) });
        if (status !== 201) throw new Error(`Cannot leave an entry: got ${status}`);
      });
      await Promise.all(some);
      due += EVERY_MS;
      await sleep(Math.max(0, due - performance.now()));
    }
  } finally {
    agent.destroy();
  }
}

/** Reads and writes in turns. */
function turns(): Question {
  const next = gardener(23);
  let count = 0;
  return () => {
    count += 1;
    return count % 2 === 0
      ? { path: '/api/garden?limit=50' }
      : { path: '/api/garden', body: JSON.stringify(next()) };
  };
}
